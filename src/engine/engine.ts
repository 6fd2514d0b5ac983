// The engine: what the outside may do to tasks, and how trees of tasks are taken over, released and stopped.

import { passedLimit, quotas } from "../core/quotas.ts";
import { toTuttiError, TuttiError } from "../protocol/error.ts";
import type { AskId, TaskId } from "../protocol/ids.ts";
import type { AgentResult } from "../protocol/invocation/invocation-result.ts";
import type { Answerer } from "../protocol/task/ask.ts";
import type { LiveDelta } from "../protocol/task/event.ts";
import { completeMessage, type Message } from "../protocol/task/message.ts";
import { isTerminal } from "../protocol/task/task-status.ts";
import type {
  Clock,
  Delivery,
  MessageOptions,
  NewTask,
  RunnerRegistry,
  StartOptions,
  Tasks,
  TreeRunners,
} from "../ports.ts";
import type { OpenStatus, Store } from "../store/store.ts";
import { addRoot } from "./add-tasks.ts";
import { answerProblem } from "./check-answer.ts";
import { forgetResumes, resumeTask } from "./crash-guard.ts";
import { Driver } from "./driver.ts";
import { cancelTask, watchDeadline } from "./end-task.ts";
import type { EngineParts } from "./engine-parts.ts";
import type { LiveTask, Tree } from "./live-task.ts";
import { LiveTasks } from "./live-tasks.ts";
import { idInName, taskName } from "../store/names.ts";
import { resultIn } from "./outcome.ts";
import { PauseSwitch } from "./pause-switch.ts";
import { Recorder, type Redact } from "./recorder.ts";
import { alignStatus, recoverTree } from "./recovery.ts";
import { ResumeTrials } from "./resume-trials.ts";
import { Runners } from "./runners.ts";
import { Slots } from "./slots.ts";
import { settledIn } from "./wait-body.ts";
import { Waits } from "./waits.ts";

export interface EngineOptions {
  readonly store: Store;
  readonly clock: Clock;
  /** Runners that are the same for all trees. */
  readonly runners: RunnerRegistry;
  /** Runners that are resolved for each tree. */
  readonly treeRunners?: TreeRunners;
  /** Tasks that run at the same time, over all trees. */
  readonly slots?: number;
  /** Ends what an interrupted step left behind, from what it noted; awaited before its tree goes on. */
  readonly cleanUp?: (note: unknown) => Promise<void>;
  /** Told of each task of a recovered tree whose kind nobody here runs. */
  readonly onParked?: (task: TaskId, kind: string) => void;
  /** Told of each tree that could not be taken over and stays as it is on disk. */
  readonly onLeft?: (root: TaskId, error: TuttiError) => void;
  /** Text that is being written: shown, not kept. */
  readonly onLive?: (delta: LiveDelta) => void;
  /** Takes out of every text that is recorded what must not be kept, before anybody gets it; valid JSON must stay valid. */
  readonly redact?: Redact;
  /** Why no new work is taken, such as a disk that is almost full; undefined while it is. Running tasks go on. */
  readonly refusesWork?: () => TuttiError | undefined;
}

export interface AdoptOptions {
  /** When somebody last worked on the tree. */
  readonly downSince: number;
  /** False: the tasks are only there to be canceled; none of them goes on. */
  readonly launch?: boolean;
}

const defaultSlots = 64;
/** After a restart a caller sends its invocation again. For so long it finds the task that went on, even if it has ended. */
const sentAgainMs = 60_000;
/** How many trees are taken over until whatever else the process has to do gets its turn. */
const treesAtOnce = 16;
/** How long a stop waits for steps that do not listen to their signal. */
const graceMs = 5_000;

export class Engine implements Tasks {
  readonly #parts: EngineParts;
  readonly #driver: Driver;
  readonly #options: EngineOptions;
  readonly #offCommit: () => void;
  /** Whoever waits from outside, to be told when the engine cannot go on. */
  readonly #onHalt = new Set<(reason: TuttiError) => void>();
  #stopped: TuttiError | undefined;
  /** Roots of the trees that this process took over unfinished, and until when a caller may send their invocation again. */
  readonly #takenOver = new Map<number, number>();
  /** Started in this tick: by key, while the store cannot tell yet. */
  readonly #starting = new Map<string, { readonly task: LiveTask; readonly content: string }>();

  constructor(options: EngineOptions) {
    const { store, clock, onLive } = options;
    this.#options = options;
    const recorder = new Recorder(store, clock, options.redact);
    const slots = new Slots(options.slots ?? defaultSlots);
    const tasks = new LiveTasks();
    this.#parts = {
      store,
      clock,
      recorder,
      slots,
      tasks,
      waits: new Waits(recorder, slots),
      pause: new PauseSwitch({ store, clock, slots, tasks: () => tasks.all() }),
      runners: new Runners(options.runners, options.treeRunners),
      trials: new ResumeTrials(clock),
      launch: (task) => this.#driver.launch(task),
      onLive: (delta) => onLive?.(delta),
    };
    this.#driver = new Driver(this.#parts);
    this.#offCommit = store.onCommit(() => {
      if (store.failure !== undefined) this.#halt(store.failure);
      else if (store.stalled !== undefined && this.#stopped !== undefined) store.giveUpStalled();
    });
  }

  // ---- trees: taken over, released, stopped

  /** Takes over every unfinished tree of the store; to be called once, before anything else. Returns how many tasks go on. */
  async recover({ launch = true }: { readonly launch?: boolean } = {}): Promise<number> {
    const { store, clock } = this.#parts;
    const downSince = store.lastEventAt(null) ?? clock.now();
    const taken: Promise<number>[] = [];
    for (const root of store.unfinishedTrees()) {
      if (this.halted !== undefined) break;
      taken.push(this.adopt(root, { downSince, launch }).catch((thrown: unknown) => this.#leaveTree(root, thrown)));
      // Whoever asks something meanwhile gets an answer.
      if (taken.length % treesAtOnce === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    const counts = await Promise.all(taken);
    return counts.reduce((sum, count) => sum + count, 0);
  }

  /** One tree that cannot be taken over must not stop the others: it stays as it is on disk, and that is told. */
  #leaveTree(root: number, thrown: unknown): number {
    if (this.halted !== undefined) throw this.halted;
    const name = taskName(this.#parts.store.salt, root);
    const tree = this.#parts.tasks.find(name)?.tree;
    const error = toTuttiError(thrown);
    if (tree !== undefined) {
      haltTree(this.#parts, tree, error);
      this.#parts.tasks.release(tree);
    }
    this.#options.onLeft?.(name, error);
    return 0;
  }

  /**
   * Takes over one tree and goes on with it; returns how many of its tasks go on. A task of a kind that nobody here runs,
   * recorded perhaps by a newer version, is left as it is: failing it would be an end that never changes.
   */
  async adopt(root: number, { downSince, launch = true }: AdoptOptions): Promise<number> {
    this.#check();
    const parts = this.#parts;
    const { tasks, notes } = recoverTree(parts, root, downSince);
    for (const task of tasks) {
      parts.tasks.add(task);
      watchDeadline(parts, task);
      alignStatus(parts, task);
    }
    if (tasks.some((task) => task.result === undefined)) this.#takenOver.set(root, parts.clock.now() + sentAgainMs);
    if (!launch) return 0;
    await Promise.all(notes.map(async (note) => this.#options.cleanUp?.(note)));
    const open = tasks.filter((task) => task.result === undefined);
    const known = open.filter((task) => parts.runners.knows(task.kind));
    const resumes = new Map(parts.store.resumesOf(root).map(({ task, count }) => [task, count]));
    for (const task of known) resumeTask(parts, task, resumes.get(task.id) ?? 0);
    for (const task of open) if (!known.includes(task)) this.#options.onParked?.(task.name, task.kind);
    return known.length;
  }

  /** Ends the loops of one tree without recording an end, and forgets the tree: another process may take it over. */
  async release(root: TaskId): Promise<void> {
    const tree = this.#parts.tasks.find(root)?.tree;
    if (tree === undefined) return;
    haltTree(this.#parts, tree, new TuttiError("stopped", `the tree of ${root} was released; it goes on elsewhere`));
    await this.#loopsReturned([tree]);
    this.#parts.tasks.release(tree);
    await this.#parts.store.committed();
  }

  /**
   * Ends every loop without recording an end: the store keeps the tasks for the next start. `failed`: the process stops
   * because of an error, which a task that was under way may have caused.
   */
  async stop({ failed = false }: { readonly failed?: boolean } = {}): Promise<void> {
    const { store, tasks } = this.#parts;
    if (!failed && this.halted === undefined) forgetResumes(this.#parts);
    this.#stopped ??= new TuttiError("stopped", "Tutti is being stopped; the task goes on at the next start");
    this.#halt(this.#stopped);
    // Nobody was told that what waits for room is on disk, so it may be dropped. The next start goes on from what is there.
    store.giveUpStalled();
    await this.#loopsReturned([...tasks.trees()]);
    try {
      if (store.failure === undefined) await store.committed();
    } catch (thrown) {
      if (!(thrown instanceof TuttiError && thrown.code === "disk_full")) throw thrown;
    } finally {
      this.#offCommit();
    }
  }

  /** Resolves when the loops of the trees have returned, or have had their time. */
  async #loopsReturned(trees: readonly Tree[]): Promise<void> {
    const running = trees.filter((tree) => tree.loops > 0);
    if (running.length === 0) return;
    const returned = Promise.all(
      running.map((tree) => new Promise<void>((resolve) => (tree.onLoopsReturned = resolve))),
    );
    let callOff: (() => void) | undefined;
    const late = new Promise<void>((resolve) => {
      callOff = this.#parts.clock.timer(graceMs, resolve);
    });
    await Promise.race([returned, late]);
    callOff?.();
  }

  #halt(reason: TuttiError): void {
    for (const tree of this.#parts.tasks.trees()) haltTree(this.#parts, tree, reason);
    for (const reject of this.#onHalt) reject(reason);
    this.#onHalt.clear();
  }

  /** Why nothing goes on any more; undefined while it does. */
  get halted(): TuttiError | undefined {
    return this.#stopped ?? this.#parts.store.failure;
  }

  /** Why no new work is taken at the moment; undefined while it is. Running tasks go on when there is room again. */
  get refusesWork(): TuttiError | undefined {
    return this.#parts.store.stalled ?? this.#options.refusesWork?.();
  }

  /** Resolves when no task is left and all of it is on disk; rejects when the engine cannot go on. */
  idle(): Promise<void> {
    const { store, tasks } = this.#parts;
    if (this.halted !== undefined) return Promise.reject(this.halted);
    if (tasks.size === 0) return store.committed();
    return this.#whenTold((resolve) => tasks.onceEmpty(resolve));
  }

  /** Resolves when the task and all below it are over and on disk; rejects when the engine cannot go on. */
  settled(task: TaskId): Promise<void> {
    const { store, tasks } = this.#parts;
    const live = tasks.find(task);
    if (this.halted !== undefined) return Promise.reject(this.halted);
    if (live === undefined) return store.committed();
    return this.#whenTold((resolve) => (live.onSettled ??= new Set()).add(resolve));
  }

  #whenTold(subscribe: (resolve: () => void) => void): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#onHalt.add(reject);
      subscribe(() => {
        this.#onHalt.delete(reject);
        this.#parts.store.committed().then(resolve, reject);
      });
    });
  }

  // ---- pause

  /**
   * No new work begins from now on, over restarts too: no task is started and no step; what is under way finishes. Waits,
   * answers, messages and cancels go on; new tasks are taken and stay pending. The time does not count against anybody.
   */
  async pause(): Promise<void> {
    this.#check();
    await this.#parts.pause.begin();
  }

  async resume(): Promise<void> {
    this.#check();
    await this.#parts.pause.end();
  }

  get paused(): boolean {
    return this.#parts.pause.isOn;
  }

  /** Begins nothing more, lets the steps under way end within the time given, and stops. False when some did not. */
  async drain(within: number, options: { readonly failed?: boolean } = {}): Promise<boolean> {
    let callOff: (() => void) | undefined;
    const late = new Promise<false>((resolve) => {
      callOff = this.#parts.clock.timer(within, () => resolve(false));
    });
    const drained = await Promise.race([this.#parts.pause.drain().then(() => true), late]);
    callOff?.();
    await this.stop(options);
    return drained;
  }

  /** Tasks that are not over, by status. */
  counts(): Readonly<Record<OpenStatus, number>> {
    const counts = { pending: 0, running: 0, input_required: 0 };
    for (const { status } of this.#parts.tasks.all()) if (!isTerminal(status)) counts[status] += 1;
    return counts;
  }

  // ---- what the outside does to tasks

  async start(task: NewTask, options: StartOptions = {}): Promise<{ task: TaskId; existed: boolean }> {
    this.#checkStalled();
    const { store } = this.#parts;
    const { once } = options;
    const key = once?.key ?? options.key;
    const content = once?.content ?? "";
    const known = key === undefined || options.anew === true ? undefined : this.#startedWith(key, once !== undefined);
    if (known !== undefined) {
      if (known.content !== content) throw usedForOther();
      await store.committed();
      return { task: known.task, existed: true };
    }
    this.#checkRoom();
    const made = addRoot(this.#parts, task);
    if (key !== undefined) {
      store.bindKey(key, { task: made.id, content });
      this.#starting.set(key, { task: made, content });
    }
    await store.committed();
    if (key !== undefined && this.#starting.get(key)?.task === made) this.#starting.delete(key);
    this.#driver.launch(made);
    return { task: made.name, existed: false };
  }

  /**
   * The task that was started with the key. One that is over, with all below it, counts only if `finished` does, or if it
   * has just been taken over from the process before.
   */
  #startedWith(key: string, finished: boolean): { readonly task: TaskId; readonly content: string } | undefined {
    const { store, tasks } = this.#parts;
    const starting = this.#starting.get(key);
    if (starting !== undefined) return { task: starting.task.name, content: starting.content };
    const bound = store.boundKey(key);
    if (bound === undefined) return undefined;
    const task = taskName(store.salt, bound.task);
    if (finished && store.task(bound.task) === undefined) throw wasPruned();
    const justTakenOver = this.#isJustTakenOver(bound.task);
    const counts = finished || tasks.find(task) !== undefined || justTakenOver;
    return counts ? { task, content: bound.content } : undefined;
  }

  /** True once: whoever sent the invocation again has then found its task. */
  #isJustTakenOver(root: number): boolean {
    const until = this.#takenOver.get(root) ?? 0;
    this.#takenOver.delete(root);
    return until > this.#parts.clock.now();
  }

  async deliver(wait: AskId, answer: unknown, by: Answerer): Promise<Delivery> {
    this.#checkStalled();
    const { store, waits, recorder } = this.#parts;
    const value = recorder.cleanValue(answer);
    const id = idInName(store.salt, wait);
    const open = id === undefined ? undefined : waits.get(id);
    if (id === undefined || open === undefined) return this.#whyNotOpen(wait, id);
    const problem = answerProblem(open, value);
    if (problem !== undefined) return { outcome: "invalid", message: problem };
    const unverified = open.schema === undefined ? { unverified: true } : {};
    const settled = waits.settle(id, "answered", JSON.stringify({ value, by, ...unverified }));
    if (!settled) return this.#whyNotOpen(wait, id);
    await store.committed();
    return open.schema === undefined ? { outcome: "accepted", provisional: true } : { outcome: "accepted" };
  }

  async message(task: TaskId, message: Message, options: MessageOptions = {}): Promise<void> {
    const live = this.#liveOr(task);
    const { store, clock, recorder } = this.#parts;
    const complete = completeMessage(message, { id: `${task}.mail.${crypto.randomUUID()}`, now: clock.now() });
    const body = recorder.clean(JSON.stringify(complete));
    if (options.admitted !== true) {
      this.#checkRoom();
      countMessage(store, live, body.length);
    }
    store.addMail(live.id, body);
    await store.committed();
    for (const wake of live.onMail ?? []) wake();
  }

  async cancel(task: TaskId, reason: string): Promise<TaskId[]> {
    this.#check();
    const live = this.#parts.tasks.find(task);
    if (live === undefined) {
      await this.#endedResult(task);
      return [];
    }
    const canceled = cancelTask(this.#parts, live, reason);
    await this.#parts.store.committed();
    return canceled.map((each) => each.name);
  }

  async retry(task: TaskId, { once }: Pick<StartOptions, "once"> = {}): Promise<void> {
    const live = this.#liveOr(task);
    this.#checkRoom();
    const { store } = this.#parts;
    this.#driver.nextAttempt(live);
    if (once !== undefined) store.bindKey(once.key, { task: live.id, content: once.content });
    await store.committed();
  }

  result(task: TaskId, signal?: AbortSignal): Promise<AgentResult> {
    const { store, tasks } = this.#parts;
    const live = tasks.find(task);
    if (live === undefined) return this.#endedResult(task);
    const known = live.result;
    if (known !== undefined) return store.committed().then(() => known);
    if (this.halted !== undefined) return Promise.reject(this.halted);
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
        store.committed().then(() => resolve(result), reject);
      };
      (live.joiners ??= new Set()).add(give);
      this.#onHalt.add(leave);
      signal?.addEventListener("abort", aborted);
      if (signal?.aborted === true) aborted();
    });
  }

  /** A task that has just ended is gone from memory and perhaps not yet on disk. */
  async #endedResult(task: TaskId): Promise<AgentResult> {
    await this.#parts.store.committed();
    const known = this.#storedResult(task);
    if (known === undefined) throw new TuttiError("not_found", `there is no task ${task}`);
    return known;
  }

  #whyNotOpen(wait: AskId, id: number | undefined): Delivery {
    const { store, waits } = this.#parts;
    const answer = id === undefined ? undefined : (waits.settled(id) ?? store.answer(id));
    if (answer === undefined) return { outcome: "unknown", message: `there is no open question ${wait}` };
    const said = { answered: "was answered already", expired: "expired before", withdrawn: "is no longer asked" };
    const message = `${wait} ${said[answer.kind]}; this answer changes nothing`;
    return { outcome: "late", message, settled: settledIn(answer) };
  }

  #storedResult(name: TaskId): AgentResult | undefined {
    const { store } = this.#parts;
    const id = idInName(store.salt, name);
    const row = id === undefined ? undefined : store.result(id);
    return row === undefined ? undefined : resultIn(row, name);
  }

  #liveOr(task: TaskId): LiveTask {
    this.#check();
    const live = this.#parts.tasks.find(task);
    if (live !== undefined && live.result === undefined) return live;
    if (live !== undefined || this.#storedResult(task) !== undefined) {
      throw new TuttiError("conflict", `the task ${task} is over`);
    }
    throw new TuttiError("not_found", `there is no task ${task}`);
  }

  #check(): void {
    if (this.halted !== undefined) throw this.halted;
  }

  /** What waits for a commit would wait as long as the disk is full, and stay in memory. So it is refused. */
  #checkStalled(): void {
    this.#check();
    const { stalled } = this.#parts.store;
    if (stalled !== undefined) throw stalled;
  }

  #checkRoom(): void {
    this.#check();
    const { refusesWork } = this;
    if (refusesWork !== undefined) throw refusesWork;
  }
}

/** Ends the loops of a tree and calls off its timers; nothing of that is recorded. */
function haltTree({ waits }: EngineParts, tree: Tree, reason: TuttiError): void {
  tree.halted ??= reason;
  for (const task of tree.live) {
    waits.release(task);
    task.callOffDeadline?.();
    task.stop?.(reason);
  }
}

function usedForOther(): TuttiError {
  return new TuttiError("conflict", "this idempotency key was used for another invocation; use a new key for new work");
}

function wasPruned(): TuttiError {
  const message =
    "the task of this idempotency key has ended and was pruned; it is not run again, use a new key for new work";
  return new TuttiError("expired", message);
}

/** Throws if the task was sent more messages than it may be, in this process and before. */
function countMessage(store: Store, task: LiveTask, bytes: number): void {
  // All attempts count: they are sent to the task.
  const used = task.messaged ?? (task.fresh ? { count: 0, bytes: 0 } : store.mailSent(task.id, 0, "message"));
  const passed = passedLimit(quotas.messages, used, { count: 1, bytes });
  if (passed !== undefined) {
    const limit =
      passed === "count" ? `${quotas.messages.count} messages` : `${quotas.messages.bytes} bytes of messages`;
    throw new TuttiError("too_large", `${task.name} was sent ${limit} already and takes no more; start a new task`);
  }
  task.messaged = { count: used.count + 1, bytes: used.bytes + bytes };
}
