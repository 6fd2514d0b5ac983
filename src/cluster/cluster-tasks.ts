// What any node can do to tasks of any tree: here when the tree is here, otherwise through its owner, waiting while it changes hands.

import { z } from "zod";

import type { Engine } from "../engine/engine.ts";
import type {
  Delivery,
  LiveSession,
  MessageOptions,
  NewTask,
  StartOptions,
  TaskControl,
  ThreadPlace,
} from "../ports.ts";
import { TuttiError } from "../protocol/error.ts";
import type { AskId, TaskId } from "../protocol/ids.ts";
import type { AgentResult } from "../protocol/invocation/invocation-result.ts";
import type { Answerer } from "../protocol/task/ask.ts";
import type { Message } from "../protocol/task/message.ts";
import { idInName, taskName } from "../store/names.ts";
import type { Row } from "../store/postgres/database-connection.ts";
import type { NodeStore } from "../store/postgres/postgres-store.ts";
import { storedText } from "../store/postgres/stored-text.ts";
import { rootOf } from "../store/postgres/tree-ids.ts";
import { subtree } from "../store/postgres/subtree-sql.ts";
import { visitParked } from "./visit-parked.ts";
import { doneBefore, wasRetried } from "./command-desk.ts";
import type { EndWatch } from "./end-watch.ts";
import type { NodeLabels } from "./node-labels.ts";
import { startPlaced } from "./place-tree.ts";
import { seenByAll } from "./seen-by-all.ts";
import { inThread } from "./thread-claims.ts";
import { threadProjects } from "./thread-projects.ts";
import { type TaskCommand, valueIn } from "./task-command.ts";

/** The present life of this node. */
export interface NodeLife {
  readonly node: NodeStore;
  readonly engine: Engine;
  /** The tree is in memory here. */
  readonly isHere: (root: number) => boolean;
  readonly ends: EndWatch;
  /** What this node has that trees can ask for. */
  readonly labels: NodeLabels;
  /** Does what other nodes asked of a tree that this node has taken for a moment only. */
  readonly doDue: (root: number) => Promise<void>;
  /** Why nothing can be asked of this node any more; undefined while it can, or can again when the node has joined anew. */
  readonly over: () => TuttiError | undefined;
}

/** A tree whose node died is with another one after a lease; the request waits longer than that. */
const patienceMs = 60_000;
const lookAgainMs = 20;
/** A notification may be lost with its connection. */
const askAgainMs = 500;

const GivenDelivery = z.looseObject({ outcome: z.enum(["accepted", "late", "unknown", "invalid"]) });
const isDelivery = (value: unknown): value is Delivery => GivenDelivery.safeParse(value).success;
const TaskIds = z.array(z.string());
const NamedSession = z.object({ task: z.string(), agent: z.string(), runner: z.string() });
const GivenSession = NamedSession.extend({ children: z.array(NamedSession) });

/** What a request does at the node that has its tree. */
type Here = (engine: Engine) => Promise<unknown>;

export class ClusterTasks implements TaskControl {
  readonly #life: () => NodeLife;

  constructor(life: () => NodeLife) {
    this.#life = life;
  }

  /** The same key at two nodes at once starts one tree. */
  async start(task: NewTask, options: StartOptions = {}): ReturnType<TaskControl["start"]> {
    if (options.thread === undefined) return this.#start(task, options);
    const life = this.#present();
    const thread = { ...options.thread, project: threadProjects(life.labels).keyOf(options.thread.project) };
    return inThread(life, thread, async () => {
      await this.#bringThread(thread);
      return this.#start(task, { ...options, thread });
    });
  }

  async #start(task: NewTask, options: StartOptions): ReturnType<TaskControl["start"]> {
    const key = options.once?.key ?? options.key;
    if (key === undefined || options.anew === true) return startPlaced(this.#life(), task, options);
    const finished = options.once !== undefined;
    for (const end = Date.now() + patienceMs; Date.now() < end; await sleep(lookAgainMs)) {
      const life = this.#present();
      const { node, engine } = life;
      if (engine.halted !== undefined) continue;
      const [claim] = await this.#look(node, "SELECT * FROM claim_key($1, $2, $3)", [
        storedText(key),
        node.incarnation,
        finished,
      ]);
      if (claim?.["mine"] === 1) {
        const started = await startClaimed(life, { task, options, key });
        if (started !== undefined) return started;
        continue;
      }
      const bound = claim?.["task"];
      if (typeof bound !== "number") continue;
      if (finished) {
        // The engine compares what the key was used for, as it does with a key of its own.
        const found = await startKeyed(life, { task, options, key });
        if (found !== undefined) return found;
        continue;
      }
      if (claim?.["open"] === 1) {
        const found = taskName(node.store.salt, bound);
        const thread = options.thread === undefined ? undefined : engine.threads.of(found);
        return { task: found, existed: true, ...(thread === undefined ? {} : { thread }) };
      }
    }
    throw new TuttiError("busy", "another node is starting the same work and has not finished in time; try again");
  }

  /** The last task of a thread may be over, but in a tree that is not here: the engine has to see its result. */
  async #bringThread({ project, thread }: ThreadPlace): Promise<void> {
    if (thread === null) return;
    const { node } = this.#life();
    const { store } = node;
    const named = thread.startsWith("thr_") ? idInName(store.salt, thread) : store.threadNamed(project, thread)?.id;
    const last = named === undefined ? undefined : store.lastThreadEntry(named);
    if (last === undefined) return;
    const [tree] = await node.rows("SELECT open FROM trees WHERE root = $1", [rootOf(last.task)]);
    if (tree?.["open"] === 0) await node.bringClosed(rootOf(last.task));
  }

  async deliver(wait: AskId, value: unknown, by: Answerer): Promise<Delivery> {
    const given = await this.#route(wait, { do: "deliver", wait, value, by }, (engine) =>
      engine.deliver(wait, value, by),
    );
    if (isDelivery(given)) return given;
    throw new TuttiError("internal", "the owner of the tree gave an answer that this node does not understand");
  }

  async message(task: TaskId, message: Message, options: MessageOptions = {}): Promise<void> {
    const command: TaskCommand = { do: "message", task, message, admitted: options.admitted === true };
    await this.#route(task, command, (engine) => engine.message(task, message, options));
  }

  async cancel(task: TaskId, reason: string): Promise<TaskId[]> {
    const given = await this.#route(task, { do: "cancel", task, reason }, (engine) => engine.cancel(task, reason));
    return TaskIds.parse(given);
  }

  async kill(task: TaskId, reason: string): Promise<TaskId[]> {
    const given = await this.#route(task, { do: "kill", task, reason }, (engine) => engine.kill(task, reason));
    return TaskIds.parse(given);
  }

  async retry(task: TaskId, options: Pick<StartOptions, "once"> = {}): Promise<void> {
    const command: TaskCommand = { do: "retry", task, ...options };
    await this.#route(task, command, async (engine) => {
      if (!(await wasRetried(this.#life().node, command))) await engine.retry(task, options);
    });
  }

  async stopTask(task: TaskId, reason: string): Promise<void> {
    await this.#route(task, { do: "stop", task, reason }, (engine) => engine.stopTask(task, reason));
  }

  async interruptTask(task: TaskId, reason: string, by: Answerer): Promise<void> {
    const command: TaskCommand = { do: "interrupt", task, reason, by };
    await this.#route(task, command, (engine) => engine.interruptTask(task, reason, by));
  }

  async resumeTask(task: TaskId, by: Answerer): Promise<void> {
    await this.#route(task, { do: "resume", task, by }, (engine) => engine.resumeTask(task, by));
  }

  async session(task: TaskId): Promise<LiveSession | undefined> {
    const given = await this.#route(task, { do: "session", task }, (engine) => engine.session(task));
    return GivenSession.nullish().parse(given) ?? undefined;
  }

  async startedUnder(key: string): ReturnType<TaskControl["startedUnder"]> {
    const { node, engine } = this.#life();
    await node.bringKey(key);
    return engine.startedUnder(key);
  }

  /** Whichever node records it. */
  async result(task: TaskId, signal?: AbortSignal): Promise<AgentResult> {
    const { node, ends } = this.#life();
    const id = idInName(node.store.salt, task);
    const [found] = id === undefined ? [] : await node.rows("SELECT id FROM tasks WHERE id = $1", [id]);
    if (id === undefined || found === undefined) throw new TuttiError("not_found", `there is no task ${task}`);
    return ends.result(id, signal);
  }

  async settled(task: TaskId, signal?: AbortSignal): Promise<void> {
    const { node } = this.#life();
    const id = idInName(node.store.salt, task) ?? 0;
    for (;;) {
      signal?.throwIfAborted();
      const sql = `${subtree(1)} SELECT task FROM open WHERE task IN (SELECT id FROM below) LIMIT 1`;
      const [open] = await node.rows(sql, [id]);
      if (open === undefined) return;
      // One after the other: the rest has mostly ended by then.
      const last = open["task"];
      await this.#life().ends.result(Number(last), signal);
    }
  }

  async counts(): Promise<Readonly<Record<"pending" | "running" | "input_required", number>>> {
    const counts = { pending: 0, running: 0, input_required: 0 };
    const rows = await this.#life().node.rows("SELECT status, count(*) AS tasks FROM open GROUP BY status");
    return { ...counts, ...Object.fromEntries(rows.map((row) => [String(row["status"]), Number(row["tasks"])])) };
  }

  /** Holds on every node when it returns. */
  async pause(): Promise<void> {
    const { node, engine, over } = this.#life();
    await engine.pause();
    await seenByAll(node, over);
  }

  async resume(): Promise<void> {
    const { node, engine, over } = this.#life();
    await engine.resume();
    await seenByAll(node, over);
  }

  /** Whoever waits is told at once when there is nothing left to wait for. */
  #present(): NodeLife {
    const life = this.#life();
    const over = life.over();
    if (over !== undefined) throw over;
    return life;
  }

  /** Never says that something is unknown because its tree is between two nodes. */
  async #route(name: string, command: TaskCommand, here: Here): Promise<unknown> {
    const sql = "SELECT owner, open FROM trees WHERE root = $1";
    for (const end = Date.now() + patienceMs; Date.now() < end; await sleep(lookAgainMs)) {
      const { node, engine, isHere } = this.#present();
      // The node joins anew; nothing was done yet.
      if (engine.halted !== undefined) continue;
      const id = idInName(node.store.salt, name);
      if (id === undefined) return here(engine);
      const root = rootOf(id);
      const [tree] = await this.#look(node, sql, [root]);
      if (engine.halted !== undefined) continue;
      if (tree === undefined) return here(engine);
      if (tree["open"] !== 1) {
        if (!(await this.#bring(node, root))) continue;
        return here(engine);
      }
      if (tree["owner"] !== node.incarnation) return this.#send(root, command, here);
      if (!isHere(root)) continue;
      try {
        return await here(engine);
      } catch (thrown) {
        // The tree was given up before anything was done.
        if (isHere(root) || !(thrown instanceof TuttiError && thrown.code === "not_found")) throw thrown;
      }
    }
    throw tooLate(name);
  }

  /** Nothing when the node was fenced meanwhile: whoever asked looks at `halted` and asks again. */
  async #look(node: NodeStore, sql: string, values: readonly unknown[]): Promise<Row[]> {
    try {
      return await node.rows(sql, values);
    } catch (thrown) {
      if (node.store.failure !== undefined || (thrown instanceof TuttiError && thrown.code === "stopped")) return [];
      throw thrown;
    }
  }

  /** False when the node was fenced meanwhile. */
  async #bring(node: NodeStore, root: number): Promise<boolean> {
    try {
      await node.bringClosed(root);
      return true;
    } catch (thrown) {
      if (node.store.failure === undefined) throw thrown;
      return false;
    }
  }

  async #send(root: number, command: TaskCommand, here: Here): Promise<unknown> {
    const { node } = this.#life();
    const [sent] = await node.rows("SELECT send_command($1, $2) AS id", [root, storedText(JSON.stringify(command))]);
    const id = Number(sent?.["id"]);
    const sql = `SELECT outcome, taken, open, EXISTS (SELECT 1 FROM nodes n WHERE n.incarnation = t.owner AND n.alive) AS owned
      FROM commands c JOIN trees t ON t.root = c.root WHERE c.id = $1`;
    const done = Promise.withResolvers<void>();
    let told = done;
    const off = node.onCommand((payload) => {
      if (payload === `done ${id}`) told.resolve();
    });
    let wasClosed = false;
    try {
      for (const end = Date.now() + patienceMs; Date.now() < end;) {
        const { node: now, engine, over } = this.#life();
        if (over() !== undefined) throw stoppedMeanwhile();
        const [row] = await now.rows(sql, [id]).catch(() => []);
        const outcome = row?.["outcome"];
        if (typeof outcome === "string") return valueIn(outcome);
        if (row?.["open"] === 0 && wasClosed && engine.halted === undefined) {
          // The tree ended before its owner could answer, and may have no owner any more. Nothing about it changes now.
          if (!(await this.#bring(now, root))) continue;
          return row["taken"] === 1 ? doneBefore(engine, command) : here(engine);
        }
        // An owner that ends the tree by what it was asked to do answers a moment later.
        wasClosed = row?.["open"] === 0;
        if (row?.["owned"] === 0 && engine.halted === undefined) {
          await visitParked(this.#life(), root).catch(() => undefined);
          const [answered] = await now.rows(sql, [id]).catch(() => []);
          if (typeof answered?.["outcome"] === "string") return valueIn(answered["outcome"]);
        }
        await Promise.race([told.promise, sleep(askAgainMs)]);
        told = Promise.withResolvers<void>();
      }
    } finally {
      off();
    }
    throw tooLate(`task of the tree ${taskName(node.store.salt, root)}`);
  }
}

interface KeyedStart {
  readonly task: NewTask;
  readonly options: StartOptions;
  readonly key: string;
}

type Started = Awaited<ReturnType<TaskControl["start"]>>;

/** Undefined when the node was fenced meanwhile. The key says to whoever looks again whether the task was started. */
async function startKeyed(life: NodeLife, { task, options, key }: KeyedStart): Promise<Started | undefined> {
  const { node, engine } = life;
  try {
    await node.bringKey(key);
    return await startPlaced(life, task, options);
  } catch (thrown) {
    if (engine.halted !== undefined) return undefined;
    throw thrown;
  }
}

/** The claim is of this life. */
async function startClaimed(life: NodeLife, start: KeyedStart): Promise<Started | undefined> {
  const { node } = life;
  try {
    return await startKeyed(life, start);
  } finally {
    // Bound now, or not used. A claim that cannot be given back ends with this node.
    await node.rows("SELECT release_key($1, $2)", [storedText(start.key), node.incarnation]).catch(() => undefined);
  }
}

function tooLate(what: string): TuttiError {
  const message = `no node that owns ${what} answered in time; the request may still be carried out, look before sending it again`;
  return new TuttiError("busy", message, { retry: "unknown" });
}

function stoppedMeanwhile(): TuttiError {
  const message =
    "this node was stopped or declared dead while the owner of the task was asked; the request may still be carried out, look before sending it again";
  return new TuttiError("stopped", message, { retry: "unknown" });
}

/** A process that stops does not go on for whoever waits here. */
function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, ms).unref());
}
