// The engine: what the outside may do to tasks, and how the whole of them starts and stops.

import { type Answerer, readAnswer } from "../protocol/task/ask.ts";
import { TuttiError } from "../protocol/error.ts";
import type { LiveDelta } from "../protocol/task/event.ts";
import type { AskId, TaskId } from "../protocol/ids.ts";
import type { AgentResult } from "../protocol/invocation/invocation-result.ts";
import { completeMessage, type Message } from "../protocol/task/message.ts";
import type { Clock, Delivery, NewTask, RunnerRegistry, Tasks } from "../ports.ts";
import type { Store } from "../store/store.ts";
import { Driver } from "./driver.ts";
import { Forest } from "./forest.ts";
import type { LiveTask } from "./live.ts";
import { idInName, taskName } from "./names.ts";
import { resultIn } from "./outcome.ts";
import { recover } from "./recovery.ts";
import { problemOf, settledIn } from "./waits.ts";

export interface EngineOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly runners: RunnerRegistry;
  /** Tasks that run at the same time, over all trees. */
  readonly slots?: number;
  /** Ends what an interrupted step left behind, from the note on its claim; awaited before the task goes on. */
  readonly cleanUp?: (note: unknown) => Promise<void>;
  /** Told of each task found at the start whose kind nobody here runs. */
  readonly onParked?: (task: TaskId, kind: string) => void;
  /** Shown, not kept. */
  readonly onLive?: (delta: LiveDelta) => void;
  /** Takes out of every text that is recorded what must not be kept, before anybody gets it; valid JSON must stay valid. */
  readonly redact?: (text: string) => string;
}

const defaultSlots = 64;
/** How long a stop waits for steps that do not listen to their signal. */
const graceMs = 5_000;

export class Engine implements Tasks {
  readonly #forest: Forest;
  readonly #driver: Driver;
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #cleanUp: EngineOptions["cleanUp"];
  readonly #onParked: EngineOptions["onParked"];
  readonly #offCommit: () => void;
  /** Whoever waits from outside, to be told when the engine cannot go on. */
  readonly #onHalt = new Set<(reason: TuttiError) => void>();
  #onIdle: (() => void)[] = [];
  /** By key, while the store cannot tell yet. */
  readonly #starting = new Map<string, LiveTask>();

  constructor(options: EngineOptions) {
    this.#store = options.store;
    this.#clock = options.clock;
    this.#cleanUp = options.cleanUp;
    this.#onParked = options.onParked;
    this.#forest = new Forest({
      store: options.store,
      clock: options.clock,
      slots: options.slots ?? defaultSlots,
      checkRunner: (kind) => this.#driver.runnerOf(kind),
      launch: (task) => this.#driver.launch(task),
      onLive: (delta) => options.onLive?.(delta),
      onEmpty: () => this.#tellIdle(),
      redact: options.redact,
    });
    this.#driver = new Driver(this.#forest, options.runners);
    this.#offCommit = options.store.onCommit(() => {
      if (options.store.failure !== undefined) this.#halt(options.store.failure);
    });
  }

  /**
   * Resumes every task that is not over; to be called once, before anything else. Returns how many. A task of a kind nobody
   * here runs, recorded perhaps by a newer version, is left as it is: failing it would be an end that never changes.
   */
  async recover(): Promise<number> {
    const found = recover(this.#forest, (task) => this.#forest.adopt(task));
    await Promise.all(found.notes.map(async (note) => this.#cleanUp?.(note)));
    const known = found.tasks.filter((task) => this.#driver.knows(task.kind));
    for (const task of known) this.#driver.launch(task);
    for (const task of found.tasks) if (!known.includes(task)) this.#onParked?.(task.name, task.kind);
    return known.length;
  }

  /** Resolves when no task is left and all of it is on disk; rejects when the engine cannot go on. */
  idle(): Promise<void> {
    if (this.#forest.halted !== undefined) return Promise.reject(this.#forest.halted);
    if (this.#forest.size === 0) return this.#store.committed();
    return new Promise((resolve, reject) => {
      this.#onHalt.add(reject);
      this.#onIdle.push(() => {
        this.#onHalt.delete(reject);
        this.#store.committed().then(resolve, reject);
      });
    });
  }

  /** Resolves when the task and all below it are over and on disk; rejects when the engine cannot go on. */
  settled(task: TaskId): Promise<void> {
    const live = this.#forest.find(task);
    if (this.#forest.halted !== undefined) return Promise.reject(this.#forest.halted);
    if (live === undefined) return this.#store.committed();
    return new Promise((resolve, reject) => {
      this.#onHalt.add(reject);
      (live.onSettled ??= new Set()).add(() => {
        this.#onHalt.delete(reject);
        this.#store.committed().then(resolve, reject);
      });
    });
  }

  /** Ends every loop without recording an end: the store keeps the tasks for the next start. */
  async stop(): Promise<void> {
    this.#forest.stopped ??= new TuttiError("stopped", "Tutti is being stopped; the task goes on at the next start");
    this.#halt(this.#forest.stopped);
    const giveUp = Date.now() + graceMs;
    while (this.#driver.loops > 0 && Date.now() < giveUp) await new Promise((resolve) => setTimeout(resolve, 1));
    this.#offCommit();
    if (this.#store.failure === undefined) await this.#store.committed();
  }

  /**
   * No new work begins from now on, over restarts too: no task is started and no step; what is under way finishes. Waits,
   * answers, messages and cancels go on; new tasks are taken and stay pending. The time does not count against anybody.
   */
  async pause(): Promise<void> {
    this.#check();
    await this.#forest.pause.begin();
  }

  async resume(): Promise<void> {
    this.#check();
    await this.#forest.pause.end();
  }

  get paused(): boolean {
    return this.#forest.pause.isOn;
  }

  /** Begins nothing more, lets the steps under way end within the time given, and stops. False when some did not. */
  async drain(graceMs: number): Promise<boolean> {
    let callOff: (() => void) | undefined;
    const late = new Promise<false>((resolve) => {
      callOff = this.#clock.timer(graceMs, () => resolve(false));
    });
    const drained = await Promise.race([this.#forest.pause.drain().then(() => true), late]);
    callOff?.();
    await this.stop();
    return drained;
  }

  /** Tasks that are not over, by status. */
  counts(): { readonly pending: number; readonly running: number; readonly input_required: number } {
    const counts = { pending: 0, running: 0, input_required: 0 };
    const { waits } = this.#forest;
    for (const { result, status, waits: open } of this.#forest.all()) {
      if (result !== undefined) continue;
      // Asked about by a loop that waits for other things besides, it needs input as well.
      if ([...(open ?? [])].some((id) => waits.get(id)?.body.ask !== undefined)) counts.input_required += 1;
      else counts[status === "pending" ? "pending" : "running"] += 1;
    }
    return counts;
  }

  /** Why nothing goes on any more; undefined while it does. */
  get halted(): TuttiError | undefined {
    return this.#forest.halted;
  }

  async start(task: NewTask, options: Parameters<Tasks["start"]>[1] = {}): Promise<{ task: TaskId; existed: boolean }> {
    this.#check();
    const found = options.anew === true ? undefined : options.key;
    const known = found === undefined ? undefined : this.#store.taskOfKey(found);
    // A root that has its result is found too, as long as something below it goes on.
    const unfinished = known === undefined ? undefined : this.#forest.find(taskName(this.#store.salt, known));
    if (unfinished !== undefined) return { task: unfinished.name, existed: true };
    const starting = found === undefined ? undefined : this.#starting.get(found);
    if (starting !== undefined) {
      await this.#store.committed();
      return { task: starting.name, existed: true };
    }
    const made = this.#forest.addRoot(task);
    if (options.key !== undefined) {
      for (const key of [options.key, ...(options.also ?? [])]) this.#store.bindKey(key, made.id);
      this.#starting.set(options.key, made);
    }
    await this.#store.committed();
    if (options.key !== undefined && this.#starting.get(options.key) === made) this.#starting.delete(options.key);
    this.#driver.launch(made);
    return { task: made.name, existed: false };
  }

  async deliver(wait: AskId, answer: unknown, by: Answerer): Promise<Delivery> {
    this.#check();
    const value = this.#forest.cleanValue(answer);
    const id = idInName(this.#store.salt, wait);
    const open = id === undefined ? undefined : this.#forest.waits.get(id);
    if (id === undefined || open === undefined) return this.#whyNotOpen(wait, id);
    const problem = problemWith(open, value);
    if (problem !== undefined) return { outcome: "invalid", message: problem };
    const unverified = open.schema === undefined ? { unverified: true } : {};
    const settled = this.#forest.waits.settle(id, "answered", JSON.stringify({ value, by, ...unverified }));
    if (!settled) return this.#whyNotOpen(wait, id);
    await this.#store.committed();
    return open.schema === undefined ? { outcome: "accepted", provisional: true } : { outcome: "accepted" };
  }

  async message(task: TaskId, message: Message): Promise<void> {
    const live = this.#liveOr(task);
    const now = this.#clock.now();
    const complete = completeMessage(message, { id: `${task}.mail.${crypto.randomUUID()}`, now });
    this.#store.addMail(live.id, this.#forest.clean(JSON.stringify(complete)));
    await this.#store.committed();
    for (const wake of live.onMail ?? []) wake();
  }

  async cancel(task: TaskId, reason: string): Promise<TaskId[]> {
    this.#check();
    const live = this.#forest.find(task);
    if (live === undefined) {
      await this.#endedResult(task);
      return [];
    }
    const canceled = this.#forest.cancel(live, reason);
    await this.#store.committed();
    return canceled.map((each) => each.name);
  }

  async retry(task: TaskId): Promise<void> {
    const live = this.#liveOr(task);
    this.#driver.nextAttempt(live);
    await this.#store.committed();
  }

  result(task: TaskId, signal?: AbortSignal): Promise<AgentResult> {
    const live = this.#forest.find(task);
    if (live === undefined) return this.#endedResult(task);
    const known = live.result;
    if (known !== undefined) return this.#store.committed().then(() => known);
    if (this.#forest.halted !== undefined) return Promise.reject(this.#forest.halted);
    return new Promise((resolve, reject) => {
      const off = (): void => {
        this.#onHalt.delete(leave);
        live.joiners?.delete(give);
        signal?.removeEventListener("abort", aborted);
      };
      const leave = (reason: unknown): void => {
        off();
        reject(reason);
      };
      const aborted = (): void => leave(signal?.reason);
      const give = (result: AgentResult): void => {
        off();
        this.#store.committed().then(() => resolve(result), reject);
      };
      (live.joiners ??= new Set()).add(give);
      this.#onHalt.add(leave);
      signal?.addEventListener("abort", aborted);
      if (signal?.aborted === true) aborted();
    });
  }

  /** A task that has just ended is gone from memory and perhaps not yet on disk. */
  async #endedResult(task: TaskId): Promise<AgentResult> {
    await this.#store.committed();
    const known = this.#storedResult(task);
    if (known === undefined) throw new TuttiError("not_found", `there is no task ${task}`);
    return known;
  }

  #whyNotOpen(wait: AskId, id: number | undefined): Delivery {
    const answer = id === undefined ? undefined : (this.#forest.waits.settled(id) ?? this.#store.answer(id));
    if (answer === undefined) return { outcome: "unknown", message: `there is no open question ${wait}` };
    const said = { answered: "was answered already", expired: "expired before", withdrawn: "is no longer asked" };
    const message = `${wait} ${said[answer.kind]}; this answer changes nothing`;
    return { outcome: "late", message, settled: settledIn(answer) };
  }

  #storedResult(name: TaskId): AgentResult | undefined {
    const id = idInName(this.#store.salt, name);
    const row = id === undefined ? undefined : this.#store.result(id);
    return row === undefined ? undefined : resultIn(row, name);
  }

  #liveOr(task: TaskId): LiveTask {
    this.#check();
    const live = this.#forest.find(task);
    if (live !== undefined && live.result === undefined) return live;
    if (live !== undefined || this.#storedResult(task) !== undefined) {
      throw new TuttiError("conflict", `the task ${task} is over`);
    }
    throw new TuttiError("not_found", `there is no task ${task}`);
  }

  #halt(reason: TuttiError): void {
    this.#forest.waits.close();
    for (const task of this.#forest.all()) {
      task.callOffDeadline?.();
      task.stop?.(reason);
    }
    for (const reject of this.#onHalt) reject(reason);
    this.#onHalt.clear();
  }

  #tellIdle(): void {
    const waiting = this.#onIdle;
    this.#onIdle = [];
    for (const resolve of waiting) resolve();
  }

  #check(): void {
    if (this.#forest.halted !== undefined) throw this.#forest.halted;
  }
}

/** Why a value cannot settle a wait, which then stays open; undefined when it can. */
function problemWith(open: NonNullable<ReturnType<Forest["waits"]["get"]>>, value: unknown): string | undefined {
  const { ask } = open.body;
  if (ask !== undefined) {
    const { kind, choices, answer_schema } = ask;
    const asked = {
      kind,
      answer_schema: answer_schema ?? null,
      ...(choices === undefined ? {} : { choices: [...choices] }),
    };
    const reading = readAnswer(asked, value);
    if (!reading.ok) return reading.issues.map((issue) => `${issue.path}: ${issue.message}`).join("; ");
  }
  return open.schema === undefined ? undefined : problemOf(open.schema, value);
}
