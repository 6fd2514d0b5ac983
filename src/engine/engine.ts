// The engine: what the outside may do to tasks, and how all of them are paused and stopped.

import { refusedYes } from "../core/program-work.ts";
import { TuttiError } from "../protocol/error.ts";
import type { AskId, TaskId } from "../protocol/ids.ts";
import type { AgentResult } from "../protocol/invocation/invocation-result.ts";
import { type Answerer, NoAnswer } from "../protocol/task/ask.ts";
import { completeMessage, type Message } from "../protocol/task/message.ts";
import { isTerminal } from "../protocol/task/task-status.ts";
import type { Delivery, LiveSession, MessageOptions, NewTask, StartOptions, TaskControl, Tasks } from "../ports.ts";
import type { OpenStatus } from "../store/store.ts";
import { addRoot } from "./add-tasks.ts";
import { checkedAnswer, notOpen } from "./check-answer.ts";
import { forgetResumes } from "./crash-guard.ts";
import { dayWaitProblem } from "./day-answers.ts";
import { noDayCap } from "./day-cap.ts";
import { Driver } from "./driver.ts";
import { cancelTask } from "./end-task.ts";
import { defaultSlots, type EngineOptions, type EngineStart } from "./engine-options.ts";
import type { EngineParts } from "./engine-parts.ts";
import { type LiveBudget, liveBudget } from "./live-budget.ts";
import type { LiveTask } from "./live-task.ts";
import { liveSession } from "./live-session.ts";
import { LiveTasks } from "./live-tasks.ts";
import { idInName, taskName } from "../store/names.ts";
import { countMessage } from "./message-quota.ts";
import { goOnWith, type WaitingTree, waitingTrees } from "./missing-runners.ts";
import { resultIn } from "./outcome.ts";
import { OutsideWaits } from "./outside-waits.ts";
import { PauseSwitch } from "./pause-switch.ts";
import { Recorder } from "./recorder.ts";
import { ResumeTrials } from "./resume-trials.ts";
import { rootRecord } from "./root-record.ts";
import { Runners } from "./runners.ts";
import { Slots } from "./slots.ts";
import { StartedKeys } from "./started-keys.ts";
import { resumeStopped } from "./stopped-task.ts";
import { ThreadStarts } from "./thread-starts.ts";
import { type AdoptOptions, Trees } from "./trees.ts";
import { Waits } from "./waits.ts";

export class Engine implements TaskControl {
  readonly #parts: EngineParts;
  readonly #driver: Driver;
  readonly #options: EngineOptions;
  readonly #offCommit: () => void;
  readonly #waiting: OutsideWaits;
  readonly #trees: Trees;
  readonly #startedKeys: StartedKeys;
  readonly threads: ThreadStarts;
  #stopped: TuttiError | undefined;

  constructor(options: EngineOptions) {
    const { store, clock, onLive } = options;
    this.#options = options;
    this.#waiting = new OutsideWaits(store);
    const recorder = new Recorder(store, clock, options.redact);
    const slots = new Slots(options.slots ?? defaultSlots);
    const tasks = new LiveTasks();
    const day = options.day ?? noDayCap(clock);
    this.#parts = {
      store,
      clock,
      recorder,
      slots,
      tasks,
      waits: new Waits(recorder, slots, day),
      day,
      pause: new PauseSwitch({
        store,
        clock,
        slots,
        tasks: () => tasks.all(),
        sharesStore: options.sharesStore === true,
      }),
      runners: new Runners(options.runners, options.treeRunners),
      trials: new ResumeTrials(clock),
      missing: undefined,
      launch: (task) => this.#driver.launch(task),
      onLive: (delta) => onLive?.(delta),
      guard: options.guard,
      history: async (task) => options.history?.(task) ?? [],
      untilOver: (task) => (options.untilOver === undefined ? this.result(task) : options.untilOver(task)),
    };
    this.#driver = new Driver(this.#parts);
    this.#trees = new Trees(this.#parts, options, () => this.halted);
    this.#startedKeys = new StartedKeys(this.#parts, (root) => this.#trees.isJustTakenOver(root));
    this.threads = new ThreadStarts(this.#parts);
    this.#offCommit = store.onCommit(() => {
      if (store.failure !== undefined) this.#halt(store.failure);
      else if (store.stalled !== undefined && this.#stopped !== undefined) store.giveUpStalled();
    });
  }

  // ---- trees: taken over, released, stopped

  /** Takes over every unfinished tree of the store; to be called once, before anything else. Returns how many tasks go on. */
  recover({ launch = true }: { readonly launch?: boolean } = {}): Promise<number> {
    return this.#trees.recover(launch);
  }

  /**
   * Takes over one tree and goes on with it; returns how many of its tasks go on. A task of a kind that nobody here runs,
   * recorded perhaps by a newer version, is left as it is: failing it would be an end that never changes.
   */
  async adopt(root: number, options: AdoptOptions): Promise<number> {
    this.#check();
    return this.#trees.adopt(root, options);
  }

  /** Ends the loops of one tree without recording an end, and forgets the tree: another process may take it over. */
  release(root: TaskId): Promise<void> {
    return this.#trees.release(root);
  }

  /** The same for a tree that is to go on elsewhere although nothing is wrong here: no step of it is cut off. */
  releaseIdle(root: TaskId, within: number, released: () => void): Promise<boolean> {
    return this.#trees.releaseIdle(root, within, released);
  }

  /**
   * Ends every loop without recording an end: the store keeps the tasks for the next start. `failed`: the process stops
   * because of an error, which a task that was under way may have caused.
   */
  async stop({ failed = false }: { readonly failed?: boolean } = {}): Promise<void> {
    const { store } = this.#parts;
    if (!failed && this.halted === undefined) forgetResumes(this.#parts);
    this.#stopped ??= new TuttiError("stopped", "Tutti is being stopped; the task goes on at the next start");
    this.#halt(this.#stopped);
    // Nobody was told that what waits for room is on disk, so it may be dropped. The next start goes on from what is there.
    store.giveUpStalled();
    await this.#trees.allReturned();
    try {
      if (store.failure === undefined) await store.committed();
    } catch (thrown) {
      if (!(thrown instanceof TuttiError && thrown.code === "disk_full")) throw thrown;
    } finally {
      this.#offCommit();
    }
  }

  #halt(reason: TuttiError): void {
    this.#trees.halt(reason);
    this.#waiting.halt(reason);
  }

  /** Calls `listener` once with the reason when nothing goes on any more. */
  onHalted(listener: (reason: TuttiError) => void): void {
    if (this.halted === undefined) this.#waiting.onHalt(listener);
    else listener(this.halted);
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
    return this.#waiting.until((resolve) => tasks.onceEmpty(resolve));
  }

  settled(task: TaskId): Promise<void> {
    const { store, tasks } = this.#parts;
    const live = tasks.find(task);
    if (this.halted !== undefined) return Promise.reject(this.halted);
    if (live === undefined) return store.committed();
    return this.#waiting.until((resolve) => (live.onSettled ??= new Set()).add(resolve));
  }

  // ---- runners that are not here

  /**
   * From now on a task whose runner is not here waits, because another process may have it. `tell` is called with the root of
   * its tree.
   */
  waitForRunners(tell: (root: number) => void): void {
    this.#parts.missing = tell;
    this.#parts.runners.mayBeElsewhere = true;
  }

  /** Trees with tasks that wait for runners. */
  get waitingForRunners(): readonly WaitingTree[] {
    return waitingTrees(this.#parts);
  }

  /** The runner is here now: tasks of the tree that waited for it go on. */
  goOnWith(root: number, runner: string): void {
    if (this.halted === undefined) goOnWith(this.#parts, root, runner);
  }

  get runners(): Pick<Runners, "kinds" | "knows"> {
    return this.#parts.runners;
  }

  // ---- pause

  async pause(): Promise<void> {
    this.#check();
    await this.#parts.pause.begin();
  }

  async resume(): Promise<void> {
    this.#check();
    await this.#parts.pause.end();
  }

  /** Another process that shares the store may have begun or ended a pause. */
  followPause(): void {
    if (this.halted === undefined) this.#parts.pause.follow();
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

  counts(): Readonly<Record<OpenStatus, number>> {
    const counts = { pending: 0, running: 0, input_required: 0 };
    for (const { status } of this.#parts.tasks.all()) if (!isTerminal(status)) counts[status] += 1;
    return counts;
  }

  // ---- what the outside does to tasks

  async start(task: NewTask, options: EngineStart = {}): ReturnType<Tasks["start"]> {
    this.#checkStalled();
    if (options.place === undefined && options.needs !== undefined && options.needs.length > 0) throw noNodes();
    const { store } = this.#parts;
    const { once } = options;
    const key = once?.key ?? options.key;
    const content = once?.content ?? "";
    const finished = once !== undefined;
    const known =
      key === undefined || options.anew === true ? undefined : this.#startedKeys.find(key, { finished, content });
    if (known !== undefined) {
      await store.committed();
      const said = options.thread === undefined ? undefined : this.threads.of(known);
      return { task: known, existed: true, ...(said === undefined ? {} : { thread: said }) };
    }
    this.#checkRoom();
    const place = options.thread === undefined ? undefined : this.threads.placeFor(options.thread);
    const made = addRoot(this.#parts, task, options.place !== undefined);
    const thread = place?.add(made.id);
    const onDisk = key === undefined ? undefined : this.#startedKeys.bind(key, made, content);
    const here = options.place?.(made.id) ?? true;
    await store.committed();
    onDisk?.();
    if (here) this.#driver.launch(made, { inThread: place !== undefined });
    else await this.#trees.release(made.name);
    return { task: made.name, existed: false, ...(thread === undefined ? {} : { thread }) };
  }

  async deliver(wait: AskId, answer: unknown, by: Answerer): Promise<Delivery> {
    this.#checkStalled();
    const { store, waits, recorder } = this.#parts;
    const value = recorder.cleanValue(answer);
    const id = idInName(store.salt, wait);
    const open = id === undefined ? undefined : waits.get(id);
    if (id === undefined || open === undefined) return notOpen(this.#parts, wait, id);
    const isNoAnswer = NoAnswer.safeParse(value).success;
    const ofTheDay = dayWaitProblem(open.body, by, isNoAnswer);
    if (ofTheDay !== undefined) return { outcome: "invalid", message: ofTheDay };
    if (open.body.ask !== undefined && isNoAnswer) {
      if (!waits.settle(id, "expired", null)) return notOpen(this.#parts, wait, id);
      await store.committed();
      return { outcome: "accepted" };
    }
    const refused = refusedYes(rootRecord(store, open.task.tree).config, open.body.ask?.kind, { answer: value, by });
    if (refused !== undefined) throw new TuttiError("refused", `${wait} still waits: ${refused}`);
    const checked = checkedAnswer(open, value);
    if ("problem" in checked) return { outcome: "invalid", message: checked.problem };
    const unverified = open.schema === undefined ? { unverified: true } : {};
    const settled = waits.settle(id, "answered", JSON.stringify({ value: checked.value, by, ...unverified }));
    if (!settled) return notOpen(this.#parts, wait, id);
    await store.committed();
    return open.schema === undefined ? { outcome: "accepted", provisional: true } : { outcome: "accepted" };
  }

  async message(task: TaskId, message: Message, options: MessageOptions = {}): Promise<void> {
    const live = this.#live(task) ?? (await this.#notLive(task));
    const { store, clock, recorder } = this.#parts;
    const complete = completeMessage(message, { id: `${task}.mail.${crypto.randomUUID()}`, now: clock.now() });
    const body = recorder.clean(JSON.stringify(complete));
    if (options.admitted !== true) {
      this.#checkRoom();
      countMessage(store, live, Buffer.byteLength(body));
    }
    store.addMail(live.id, body);
    await store.committed();
    for (const wake of live.onMail ?? []) wake();
  }

  async cancel(task: TaskId, reason: string): Promise<TaskId[]> {
    const canceled = this.#cancel(task, reason, { kill: false });
    await (canceled.length === 0 ? this.#endedResult(task) : this.#parts.store.committed());
    return canceled.map(({ name }) => name);
  }

  async kill(task: TaskId, reason: string): Promise<TaskId[]> {
    const killed = this.#cancel(task, reason, { kill: true });
    await (killed.length === 0 ? this.#endedResult(task) : this.#parts.store.committed());
    // A loop may still be ending the processes of a task that was canceled before.
    const driven = this.#driver.drivenIn(task);
    await Promise.all(driven.map((each) => this.#waiting.until((done) => (each.onReturned ??= new Set()).add(done))));
    return killed.map(({ name }) => name);
  }

  /** Nothing when the task is over, or there is none. */
  #cancel(task: TaskId, reason: string, how: { readonly kill: boolean }): LiveTask[] {
    this.#check();
    const live = this.#parts.tasks.find(task);
    return live === undefined ? [] : cancelTask(this.#parts, live, reason, how);
  }

  async retry(task: TaskId, { once }: Pick<StartOptions, "once"> = {}): Promise<void> {
    const live = this.#live(task) ?? (await this.#notLive(task));
    this.#checkRoom();
    const { store } = this.#parts;
    this.#driver.nextAttempt(live);
    if (once !== undefined) store.bindKey(once.key, { task: live.id, content: once.content });
    await store.committed();
  }

  async session(task: TaskId): Promise<LiveSession | undefined> {
    return liveSession(this.#parts.tasks.find(task));
  }

  async startedUnder(key: string): ReturnType<TaskControl["startedUnder"]> {
    const { store } = this.#parts;
    const bound = store.boundKey(key);
    return bound === undefined ? undefined : { task: taskName(store.salt, bound.task), content: bound.content };
  }

  /** The accounts that pay for a task that this process works on; undefined for any other. */
  budget(task: TaskId): LiveBudget | undefined {
    const { tasks, clock } = this.#parts;
    const live = tasks.find(task);
    return live === undefined ? undefined : liveBudget(live, clock.now());
  }

  async stopTask(task: TaskId, reason: string): Promise<void> {
    this.#driver.stopAttempt(this.#live(task) ?? (await this.#notLive(task)), reason);
    await this.#parts.store.committed();
  }

  async interruptTask(task: TaskId, reason: string, by: Answerer): Promise<void> {
    const live = this.#live(task) ?? (await this.#notLive(task));
    this.#checkRoom();
    this.#driver.stopAttempt(live, reason);
    resumeStopped(this.#parts, live, by);
    await this.#parts.store.committed();
  }

  async resumeTask(task: TaskId, by: Answerer): Promise<void> {
    this.#checkRoom();
    const live = this.#live(task) ?? (await this.#notLive(task));
    const { store } = this.#parts;
    // It is a yes to the question of the stopped task, whichever way it comes.
    const answer = { kind: "approval", approved: true };
    const refused = refusedYes(rootRecord(store, live.tree).config, "approval", { answer, by });
    if (refused !== undefined) throw new TuttiError("refused", `${task} stays stopped: ${refused}`);
    resumeStopped(this.#parts, live, by);
    await store.committed();
  }

  result(task: TaskId, signal?: AbortSignal): Promise<AgentResult> {
    const { store, tasks } = this.#parts;
    const live = tasks.find(task);
    if (live === undefined) return this.#endedResult(task);
    const known = live.result;
    if (known !== undefined) return store.committed().then(() => known);
    if (this.halted !== undefined) return Promise.reject(this.halted);
    return this.#waiting.result(live, signal);
  }

  /** A task that has just ended is gone from memory and perhaps not yet on disk. */
  async #endedResult(task: TaskId): Promise<AgentResult> {
    await this.#parts.store.committed();
    const known = this.#storedResult(task);
    if (known === undefined) throw new TuttiError("not_found", `there is no task ${task}`);
    return known;
  }

  #storedResult(name: TaskId): AgentResult | undefined {
    const { store } = this.#parts;
    const id = idInName(store.salt, name);
    const row = id === undefined ? undefined : store.result(id);
    return row === undefined ? undefined : resultIn(row, name);
  }

  /** Undefined when it is over or there is none. */
  #live(task: TaskId): LiveTask | undefined {
    this.#check();
    const live = this.#parts.tasks.find(task);
    return live?.result === undefined ? live : undefined;
  }

  /** A task that has just ended is gone from memory and perhaps not yet on disk; it must not be taken for one that never was. */
  async #notLive(task: TaskId): Promise<never> {
    if (this.#parts.tasks.find(task) === undefined) await this.#endedResult(task);
    throw new TuttiError("conflict", `the task ${task} is over`);
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

function noNodes(): TuttiError {
  const message =
    "labels choose among several nodes, and this is not one of many; leave them out, or start it with --database";
  return new TuttiError("refused", message);
}
