// The node's side of its watchdog: starts it, tells it of every renewal and every process, and starts another when it is gone.

import { type ChildProcess, fork } from "node:child_process";
import { randomUUID } from "node:crypto";
import { extname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { z } from "zod";

import { nodeVariable } from "../files/own-environment.ts";
import { readPrivateFile, replacePrivateFile } from "../files/private-file.ts";
import { toTuttiError, TuttiError } from "../protocol/error.ts";
import { parseJson } from "../protocol/json/parse-json.ts";
import type { ProcessNote } from "../runner/shared/process/end-processes.ts";
import { processPlace, processTable } from "../runner/shared/process/process-table.ts";
import { elapsedMs } from "./elapsed-clock.ts";
import { WatchdogReply, type WatchdogRequest } from "./watchdog-messages.ts";

/** The processes of a node that was cut off were ended. */
export interface EndedByWatchdog {
  readonly steps: readonly string[];
  readonly found: number;
  /** The pids of processes that are still there although they were killed. */
  readonly left: readonly number[];
}

export interface WatchdogOptions {
  readonly leaseMs: number;
  /** Tells the next process of this node which watchdog is at work. One that is still at work there is waited for. */
  readonly file?: string;
  /** Told when the lease ran out and the processes were ended; after a freeze, as soon as the node goes on. */
  readonly onEnded?: (ended: EndedByWatchdog) => void;
  /** The watchdog was lost, or none can be started. No process begins until there is one again. */
  readonly onProblem?: (error: TuttiError) => void;
}

export interface Watchdog {
  /** `until`: a time of `elapsedMs` before which nobody can take the trees of the node. */
  renewed(until: number): void;
  /**
   * Resolves when the process is sure to be ended with the lease; it must not be released before. While the lease is over
   * this waits for the next renewal. Rejects when no watchdog can be started.
   */
  guard(process: ProcessNote): Promise<void>;
  /** Ends all processes that the node started, and the watchdog. To be awaited before the trees are given away. */
  close(): Promise<void>;
  readonly pid: number | undefined;
}

interface Waiting {
  readonly note: ProcessNote;
  readonly resolve: () => void;
  readonly reject: (error: TuttiError) => void;
  readonly timer: NodeJS.Timeout;
}

/** The part of a lease that is kept for ending processes, and its bounds. */
const marginPart = 0.25;
const [leastMarginMs, mostMarginMs] = [100, 3_000];
/** A watchdog that has not answered so many renewals is frozen, and is replaced. */
const mostUnanswered = 3;
const [firstPauseMs, longestPauseMs] = [100, 5_000];
const startMs = 10_000;
const guardMs = 30_000;
/** Longer than the watchdog needs to end everything. */
const closeMs = 10_000;
const lookEveryMs = 20;

const keyOf = ({ pid, start, step }: ProcessNote): string => `${pid} ${start} ${step}`;

/** One for each process of Tutti. Resolves when it watches; rejects when it cannot be started. */
export async function startWatchdog(options: WatchdogOptions): Promise<Watchdog> {
  if (options.file !== undefined) await earlierGone(options.file);
  const watchdog = new NodeWatchdog(options, await ownProcess());
  await watchdog.start();
  return watchdog;
}

/** On Linux processes are found by their mark, and the process of the node may have others beside. */
async function ownProcess(): Promise<NodeProcess | undefined> {
  if (process.platform === "linux") return undefined;
  const start = await processTable.start(process.pid);
  if (start === undefined) throw new TuttiError("io", "this system does not tell when a process was started");
  return { pid: process.pid, start };
}

interface NodeProcess {
  readonly pid: number;
  readonly start: string;
}

const Kept = z.object({ pid: z.int().min(2), start: z.string(), place: z.string() });

/** The watchdog of a process that was killed is ending what that process left. One that hangs is killed. */
async function earlierGone(file: string): Promise<void> {
  const kept = Kept.safeParse(parseJson(readPrivateFile(file) ?? "")).data;
  if (kept === undefined || kept.place !== processPlace()) return;
  const isThere = async (): Promise<boolean> =>
    (await processTable.list()).some(({ pid, start, ended }) => pid === kept.pid && start === kept.start && !ended);
  for (const until = performance.now() + closeMs; await isThere(); await sleep(lookEveryMs)) {
    if (performance.now() > until) process.kill(kept.pid, "SIGKILL");
  }
}

class NodeWatchdog implements Watchdog {
  readonly #options: WatchdogOptions;
  readonly #node: NodeProcess | undefined;
  readonly #mark = randomUUID();
  readonly #guarded = new Map<string, ProcessNote>();
  readonly #waiting = new Map<number, Waiting>();
  #child: ChildProcess | undefined;
  #isWatching = false;
  #until = 0;
  #lastId = 0;
  #unanswered = 0;
  #failures = 0;
  #problem: TuttiError | undefined;
  #restart: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(options: WatchdogOptions, node: NodeProcess | undefined) {
    this.#options = options;
    this.#node = node;
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  async start(): Promise<void> {
    process.env[nodeVariable] = this.#mark;
    try {
      await this.#launch();
    } catch (thrown) {
      this.#closed = true;
      throw thrown;
    }
  }

  renewed(until: number): void {
    this.#until = Math.max(this.#until, until);
    if (!this.#isWatching) return;
    if (this.#unanswered >= mostUnanswered) {
      this.#lose("it does not answer");
      return;
    }
    this.#unanswered += 1;
    this.#send({ kind: "renewed", id: this.#nextId(), until: this.#until });
  }

  guard(note: ProcessNote): Promise<void> {
    if (this.#closed) return Promise.reject(stopped());
    if (this.#guarded.has(keyOf(note))) return Promise.resolve();
    return new Promise((resolve, reject) => {
      const id = this.#nextId();
      const timer = setTimeout(() => {
        this.#waiting.delete(id);
        reject(this.#cannotGuard());
      }, guardMs);
      this.#waiting.set(id, { note, resolve, reject, timer });
      this.#ask(id);
    });
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    clearTimeout(this.#restart);
    if (process.env[nodeVariable] === this.#mark) delete process.env[nodeVariable];
    for (const [id, { reject, timer }] of this.#waiting) {
      clearTimeout(timer);
      this.#waiting.delete(id);
      reject(stopped());
    }
    const child = this.#child;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    child.ref();
    const exited = new Promise<void>((resolve) => child.once("exit", () => resolve()));
    const late = setTimeout(() => child.kill("SIGKILL"), closeMs);
    if (child.connected) child.disconnect();
    await exited;
    clearTimeout(late);
  }

  #nextId(): number {
    this.#lastId += 1;
    return this.#lastId;
  }

  #ask(id: number): void {
    const waiting = this.#waiting.get(id);
    if (waiting !== undefined && this.#isWatching) this.#send({ kind: "guard", id, process: waiting.note });
  }

  #send(request: WatchdogRequest): void {
    // One that is gone is noticed by its exit.
    if (this.#child?.connected === true) this.#child.send(request, () => undefined);
  }

  /** Resolves when the watchdog watches everything that is known so far. */
  #launch(): Promise<void> {
    const program = new URL(`./watchdog-process${extname(import.meta.url)}`, import.meta.url);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    // A group of its own: a signal from the terminal to the node does not reach it.
    const child = fork(program, [], {
      execArgv: [],
      env: {},
      cwd: "/",
      detached: true,
      stdio: ["ignore", "ignore", "ignore", "ipc"],
    });
    this.#child = child;
    this.#unanswered = 0;
    const late = setTimeout(() => over("it did not begin in time"), startMs);
    const over = (why: string): void => {
      clearTimeout(late);
      child.kill("SIGKILL");
      reject(new TuttiError("io", `the watchdog of this node cannot be started: ${why}`, { retry: "safe" }));
      if (this.#child === child && this.#isWatching) this.#lose(why);
    };
    child.on("error", (cause) => over(cause.message));
    child.on("exit", (code, signal) =>
      over(signal === null ? `it ended with status ${code}` : `it was ended by ${signal}`),
    );
    child.on("message", (message) => {
      if (this.#child !== child) return;
      const read = WatchdogReply.safeParse(message);
      if (!read.success) return over("it said something that cannot be read");
      if (read.data.kind !== "watching") return this.#hear(read.data);
      clearTimeout(late);
      // The node may end while it watches.
      child.unref();
      child.channel?.unref();
      this.#isWatching = true;
      void this.#keep(child);
      this.#failures = 0;
      this.#problem = undefined;
      resolve();
      // What was said while it was being started.
      if (this.#until > 0) this.renewed(this.#until);
      for (const id of this.#waiting.keys()) this.#ask(id);
    });
    const marginMs = Math.min(mostMarginMs, Math.max(leastMarginMs, this.#options.leaseMs * marginPart));
    const guarded = [...this.#guarded.values()];
    this.#send({
      kind: "watch",
      ...(this.#node === undefined ? {} : { node: this.#node }),
      mark: `${nodeVariable}=${this.#mark}`,
      marginMs,
      until: this.#until,
      guarded,
    });
    return promise;
  }

  async #keep({ pid = 0 }: ChildProcess): Promise<void> {
    const { file, onProblem } = this.#options;
    const start = await processTable.start(pid);
    if (file === undefined || start === undefined || this.#closed) return;
    try {
      replacePrivateFile(file, JSON.stringify({ pid, start, place: processPlace() }));
    } catch (thrown) {
      onProblem?.(toTuttiError(thrown));
    }
  }

  #hear(reply: Exclude<WatchdogReply, { kind: "watching" }>): void {
    switch (reply.kind) {
      case "renewed":
        this.#unanswered = 0;
        // Those that were refused while the lease was over.
        for (const id of this.#waiting.keys()) this.#ask(id);
        return;
      case "guarded": {
        const waiting = this.#waiting.get(reply.id);
        if (waiting === undefined) return;
        this.#waiting.delete(reply.id);
        clearTimeout(waiting.timer);
        this.#guarded.set(keyOf(waiting.note), waiting.note);
        return waiting.resolve();
      }
      case "refused":
        return;
      case "gone":
        for (const note of reply.processes) this.#guarded.delete(keyOf(note));
        return;
      case "ended": {
        for (const note of reply.processes) this.#guarded.delete(keyOf(note));
        const { found, left, processes } = reply;
        if (this.#closed) return;
        this.#options.onEnded?.({ steps: [...new Set(processes.map(({ step }) => step))], found, left });
      }
    }
  }

  /** The processes that run go on, since the node lives; none is started until there is a watchdog again. */
  #lose(why: string): void {
    const child = this.#child;
    this.#child = undefined;
    this.#isWatching = false;
    child?.kill("SIGKILL");
    if (this.#closed) return;
    this.#options.onProblem?.(
      new TuttiError("io", `the watchdog of this node is gone (${why}); another one is started`),
    );
    this.#again(0);
  }

  #again(pauseMs: number): void {
    this.#restart = setTimeout(() => {
      if (this.#closed) return;
      this.#launch().catch((thrown: unknown) => {
        if (this.#closed || !(thrown instanceof TuttiError)) return;
        this.#child = undefined;
        this.#problem = thrown;
        this.#options.onProblem?.(thrown);
        this.#again(Math.min(longestPauseMs, firstPauseMs * 2 ** this.#failures));
        this.#failures += 1;
      });
    }, pauseMs).unref();
  }

  #cannotGuard(): TuttiError {
    const why = this.#problem?.message ?? (this.#isWatching ? leaseOver(this.#until) : "its watchdog is being started");
    const message = `no process can be started on this node: ${why}`;
    return new TuttiError("busy", message, { cause: this.#problem });
  }
}

function leaseOver(until: number): string {
  return until > elapsedMs() ? "its watchdog does not answer" : "it could not renew its lease at the database";
}

function stopped(): TuttiError {
  return new TuttiError("stopped", "this node is being stopped or joins anew, so it starts no process");
}
