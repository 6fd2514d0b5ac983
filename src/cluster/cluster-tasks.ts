// What any node can do to tasks of any tree: here when the tree is here, otherwise through its owner, waiting while it changes hands.

import { z } from "zod";

import type { Engine } from "../engine/engine.ts";
import type { Delivery, NewTask, StartOptions } from "../ports.ts";
import { TuttiError } from "../protocol/error.ts";
import type { AskId, TaskId } from "../protocol/ids.ts";
import type { Answerer } from "../protocol/task/ask.ts";
import type { Message } from "../protocol/task/message.ts";
import { idInName, taskName } from "../store/names.ts";
import type { Row } from "../store/postgres/database-connection.ts";
import type { NodeStore } from "../store/postgres/postgres-store.ts";
import { storedText } from "../store/postgres/stored-text.ts";
import { rootOf } from "../store/postgres/tree-ids.ts";
import { doneBefore } from "./command-desk.ts";
import { type TaskCommand, valueIn } from "./task-command.ts";

/** The present life of this node. */
export interface NodeLife {
  readonly node: NodeStore;
  readonly engine: Engine;
  /** The tree is in memory here. */
  readonly isHere: (root: number) => boolean;
}

/** A tree whose node died is with another one after a lease; the request waits longer than that. */
const patienceMs = 60_000;
const lookAgainMs = 20;
/** A notification may be lost with its connection. */
const askAgainMs = 500;

const GivenDelivery = z.looseObject({ outcome: z.enum(["accepted", "late", "unknown", "invalid"]) });
const isDelivery = (value: unknown): value is Delivery => GivenDelivery.safeParse(value).success;
const TaskIds = z.array(z.string());

/** What a request does at the node that has its tree. */
type Here = (engine: Engine) => Promise<unknown>;

export class ClusterTasks {
  readonly #life: () => NodeLife;

  constructor(life: () => NodeLife) {
    this.#life = life;
  }

  /** The same key at two nodes at once starts one tree. */
  async start(task: NewTask, options: StartOptions = {}): Promise<{ task: TaskId; existed: boolean }> {
    const key = options.once?.key ?? options.key;
    if (key === undefined || options.anew === true) return this.#life().engine.start(task, options);
    const finished = options.once !== undefined;
    for (const end = Date.now() + patienceMs; Date.now() < end; await sleep(lookAgainMs)) {
      const { node, engine } = this.#life();
      if (engine.halted !== undefined) continue;
      const [claim] = await this.#look(node, "SELECT * FROM claim_key($1, $2, $3)", [
        storedText(key),
        node.incarnation,
        finished,
      ]);
      if (claim?.["mine"] === 1) {
        const started = await this.#startClaimed(task, options, key);
        if (started !== undefined) return started;
        continue;
      }
      const bound = claim?.["task"];
      if (typeof bound !== "number") continue;
      if (finished) {
        // The engine compares what the key was used for, as it does with a key of its own.
        await node.bringKey(key);
        return engine.start(task, options);
      }
      if (claim?.["open"] === 1) return { task: taskName(node.store.salt, bound), existed: true };
    }
    throw new TuttiError("busy", "another node is starting the same work and has not finished in time; try again");
  }

  /** Undefined when the node was fenced meanwhile. The key says to whoever looks again whether the task was started. */
  async #startClaimed(
    task: NewTask,
    options: StartOptions,
    key: string,
  ): Promise<{ task: TaskId; existed: boolean } | undefined> {
    const { node, engine } = this.#life();
    try {
      await node.bringKey(key);
      return await engine.start(task, options);
    } catch (thrown) {
      if (engine.halted !== undefined) return undefined;
      throw thrown;
    } finally {
      // Bound now, or not used. A claim that cannot be given back ends with this node.
      await node.rows("SELECT release_key($1, $2)", [storedText(key), node.incarnation]).catch(() => undefined);
    }
  }

  async deliver(wait: AskId, value: unknown, by: Answerer): Promise<Delivery> {
    const given = await this.#route(wait, { do: "deliver", wait, value, by }, (engine) =>
      engine.deliver(wait, value, by),
    );
    if (isDelivery(given)) return given;
    throw new TuttiError("internal", "the owner of the tree gave an answer that this node does not understand");
  }

  async message(task: TaskId, message: Message): Promise<void> {
    await this.#route(task, { do: "message", task, message }, (engine) => engine.message(task, message));
  }

  async cancel(task: TaskId, reason: string): Promise<TaskId[]> {
    const given = await this.#route(task, { do: "cancel", task, reason }, (engine) => engine.cancel(task, reason));
    return TaskIds.parse(given);
  }

  async retry(task: TaskId): Promise<void> {
    await this.#route(task, { do: "retry", task }, (engine) => engine.retry(task));
  }

  /** Never says that something is unknown because its tree is between two nodes. */
  async #route(name: string, command: TaskCommand, here: Here): Promise<unknown> {
    const sql = "SELECT owner, open FROM trees WHERE root = $1";
    for (const end = Date.now() + patienceMs; Date.now() < end; await sleep(lookAgainMs)) {
      const { node, engine, isHere } = this.#life();
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
      if (isHere(root)) return here(engine);
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
    const sql = "SELECT outcome, taken, open FROM commands c JOIN trees t ON t.root = c.root WHERE c.id = $1";
    const done = Promise.withResolvers<void>();
    let told = done;
    const off = node.onCommand((payload) => {
      if (payload === `done ${id}`) told.resolve();
    });
    try {
      for (const end = Date.now() + patienceMs; Date.now() < end;) {
        const { node: now, engine } = this.#life();
        const [row] = await now.rows(sql, [id]).catch(() => []);
        const outcome = row?.["outcome"];
        if (typeof outcome === "string") return valueIn(outcome);
        if (row?.["open"] === 0 && engine.halted === undefined) {
          // The tree ended before its owner could answer, and may have no owner any more. Nothing about it changes now.
          if (!(await this.#bring(now, root))) continue;
          return row["taken"] === 1 ? doneBefore(engine, command) : here(engine);
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

function tooLate(what: string): TuttiError {
  const message = `no node that owns ${what} answered in time; the request may still be carried out, look before sending it again`;
  return new TuttiError("busy", message, { retry: "unknown" });
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
