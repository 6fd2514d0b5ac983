// What the inside needs from outside: durable execution, the task tree, the store, runners, time. Models are in model-port.ts.

import type { Rights } from "./core/rights.ts";
import type { AttendNotice, AttendOrder } from "./protocol/api/attend-shapes.ts";
import type { Attended } from "./protocol/invocation/attended.ts";
import type { Answerer, AskKind } from "./protocol/task/ask.ts";
import type { Budget, Usage } from "./protocol/task/budget.ts";
import type { LiveChannel, TaskEvent } from "./protocol/task/event.ts";
import type { RunnerConfig } from "./protocol/invocation/executor.ts";
import type { AskId, TaskId, ThreadId } from "./protocol/ids.ts";
import type { AgentResult, TaskSnapshot } from "./protocol/invocation/invocation-result.ts";
import type { CompleteMessage, Message } from "./protocol/task/message.ts";

/** Anything that turns foreign data into a T or throws; a zod schema is one. */
export interface Schema<T> {
  parse(value: unknown): T;
}

export interface Clock {
  /** Milliseconds since 1970. */
  now(): number;
  /** Calls `fire` once after `ms`; the returned function calls it off. */
  timer(ms: number, fire: () => void): () => void;
}

// ---- what a running task is given

/** A task to be. All of it is recorded before it runs, so a restart needs nothing but the store. */
export interface NewTask {
  readonly runner: RunnerConfig;
  /** The agent's name, shown to people. */
  readonly agent: string;
  /** The runner's own: the first message, the definition, whatever its loop starts from. */
  readonly input: unknown;
  readonly rights: Rights;
  /** Limits of a root; in a child `tokens` and `money_micro_usd` are carved out of its parent's account. */
  readonly budget?: Partial<Budget>;
  /** When its work must have ended; it fails then. Waiting for a person does not count. */
  readonly deadline?: number;
  /** Nobody joins it; it is still in its parent's tree and budget. */
  readonly detached?: boolean;
}

export type StepEvent = "step.finished" | "message.added" | "call.allowed" | "call.drifted" | "model.changed";

export interface StepOptions<T> {
  /** May it run again when it was interrupted before its outcome was recorded? */
  readonly repeatable: boolean;
  readonly schema: Schema<T>;
  /** The body made the outcome itself and nobody else has or changes any part of it, so the caller needs no copy. */
  readonly owned?: true;
  /** What it is about to do; the same key with another input is an error. */
  readonly input?: unknown;
  readonly timeout?: number;
  /** The event that tells its outcome; the content itself stands once, in the step. */
  readonly event?: StepEvent | ((outcome: T) => StepEvent);
  /** It only looks at records of our own and begins nothing: neither a limit of time nor a pause holds it back. */
  readonly looks?: true;
  /** Held against the budget before the body runs. */
  readonly reserve?: Usage;
  /** What it really used; settled when the outcome is recorded. */
  readonly spent?: (outcome: T) => Usage;
}

export interface StepContext {
  readonly signal: AbortSignal;
  /** Idempotency key: the same for every try of this step, different for any other. */
  readonly key: string;
  /** What an earlier, interrupted try noted; only a repeatable step can see one. */
  readonly noted: unknown;
  /** Durable when it resolves: a pid, a remote id. Given to recovery when the step was cut off. */
  note(value: unknown): Promise<void>;
  /** Text on its way: shown, not kept. */
  live(channel: LiveChannel, text: string): void;
  /** Tutti is being stopped, and the step has only the grace time left. */
  readonly stopping?: boolean;
  /** The time in milliseconds since 1970. Only a step may read it: its outcome is recorded, so a restart sees the same time. */
  now(): number;
}

export interface RunningStep extends StepContext {
  /** For a body that runs for long, such as one with a live process. */
  readonly during: DuringStep;
}

export interface AskSpec {
  readonly kind: AskKind;
  readonly question: string;
  readonly details?: unknown;
  readonly choices?: readonly string[];
  /** Those of the choices that may be followed by words: `try again: use content`. `choiceIn` reads the answer. */
  readonly choices_with_words?: readonly string[];
  readonly answer_schema?: Record<string, unknown>;
}

/**
 * What the body of a step can do while it runs. All of it is recorded at once, under keys that are unique in the step; a
 * step that is repeated finds what it recorded before and does not record it again.
 */
export interface DuringStep {
  /**
   * Asks while the body goes on: the task is `input_required` until there is an answer, and its clocks stand still. An ask
   * that is open when the body ends is withdrawn, and so is one of a step whose outcome is unknown after a restart.
   */
  ask<T>(key: string, options: StepAsk<T>): Promise<Waited<T>>;
  /** The next message from outside; undefined when the signal was first or the body has ended. */
  receive(key: string, signal?: AbortSignal): Promise<CompleteMessage | undefined>;
  /** A message of the task's own making, kept as an event; returned as it is kept. */
  say(key: string, message: Message): CompleteMessage;
  tell(key: string, event: OwnEvent): void;
  /** Booked at once, beside what the outcome of the step says. It may pass a limit: see `withinLimits`. */
  spend(key: string, usage: Usage): void;
  /** False when tokens, money or working time are used up. */
  readonly withinLimits: boolean;
  /** Asks about limits that are reached, and waits for the end of a pause. Throws `over_budget` when the person says no. */
  passLimits(): Promise<void>;
}

export interface StepAsk<T> extends WaitOptions<T> {
  /** Withdraws the ask, which then ends as if nobody had answered in time. */
  readonly signal?: AbortSignal;
}

/** Events that runs and steps record themselves. */
type OwnEventType = Extract<
  TaskEvent["type"],
  | "model.waiting"
  | `session.${string}`
  | `evidence.${string}`
  | `check.${string}`
  | `goal.${string}`
  | `route.${string}`
  | `handoff.${string}`
>;
export type OwnEvent = { [T in OwnEventType]: Pick<Extract<TaskEvent, { type: T }>, "type" | "data"> }[OwnEventType];

export interface WaitOptions<T> {
  /** Who is asked: absent when an outside party answers by the id alone, such as an external tool's client. */
  readonly ask?: AskSpec;
  /** What the wait is for, shown when there is no ask. */
  readonly label?: string;
  /** What the outside party needs to answer, when there is no ask: the call to be made. */
  readonly details?: unknown;
  /** From now on; 24 hours when absent. */
  readonly within?: number;
  readonly schema: Schema<T>;
}

export type Waited<T> = { readonly value: T; readonly by: Answerer } | { readonly expired: true };

/** A wait that is open: a source of any number of selects. */
export interface Wait<T> {
  readonly id: AskId;
  readonly schema: Schema<T>;
}

export type Source =
  | { readonly child: TaskId }
  | { readonly wait: Wait<unknown> }
  | { readonly message: true }
  | { readonly after: number };

export type Selected =
  | { readonly index: number; readonly kind: "child"; readonly value: AgentResult }
  | { readonly index: number; readonly kind: "wait"; readonly value: Waited<unknown> }
  | { readonly index: number; readonly kind: "message"; readonly value: CompleteMessage }
  | { readonly index: number; readonly kind: "after" };

export interface Handover {
  readonly agent: string;
  readonly input: unknown;
  readonly rights?: Rights;
  readonly reason?: string;
}

export interface GivenUp {
  readonly reason: string;
  /** What became of the attempt; `unknown` when absent: it may have been carried out. */
  readonly outcome?: "unknown" | "failed";
  /** What the next attempt starts from instead of the task's own input. It holds for that attempt only. */
  readonly input?: unknown;
  /** Who runs the next attempt, and with which config, instead of the task's own runner. It holds for that attempt only. */
  readonly runner?: RunnerConfig;
}

/**
 * Every operation has a key chosen by the caller, unique in the run and without `!`. What was recorded under a key is returned, not done
 * again. Between two operations code must be deterministic: no clock, no timer, no fetch outside a step.
 * After a cancel every operation throws `canceled`.
 */
export interface Durable {
  readonly task: TaskId;
  /** The task at the top of the tree. */
  readonly root: TaskId;
  readonly attempt: number;
  readonly run: number;
  readonly agent: string;
  readonly rights: Rights;
  readonly signal: AbortSignal;
  /** The attempt before was stopped, and this run goes on with its work: `messages` has what was said there. */
  readonly resumed: boolean;
  /** The attempt whose work this one goes on with, through all that were stopped and resumed; its own when it began anew. */
  readonly since: number;
  readonly input: unknown;
  /** What the spawn stored once for all its children. */
  readonly shared: unknown;
  /** The input of the tree's root: agents and settings every task of the tree may look up. */
  readonly rootInput: unknown;
  /** What the root's runner was given; unlike inputs it is kept as it was, secrets and all. */
  readonly rootConfig: unknown;

  /** Where the loop was; undefined when it never saved. */
  restore<T>(schema: Schema<T>): Promise<{ readonly state: T; readonly messages: CompleteMessage[] } | undefined>;
  /** What the attempt that was stopped saved last; undefined when this run does not go on with one. */
  stoppedState<T>(schema: Schema<T>): T | undefined;
  /** Small state, written with the next commit. */
  save(key: string, state: unknown): void;
  /** Runs the body once. Throws the same `step_failed`, `outcome_unknown` or `canceled` live and on resume. */
  step<T>(key: string, options: StepOptions<T>, body: (context: RunningStep) => Promise<T> | T): Promise<T>;
  /** All children or none; they exist durably before their ids return. */
  spawn(key: string, children: readonly NewTask[], shared?: unknown): Promise<TaskId[]>;
  /** Every result, the failed ones too, in the order of the ids (invariant 5). */
  join(ids: readonly TaskId[]): Promise<AgentResult[]>;
  /** The first source to be ready wins and is recorded; the others stay open. */
  select(key: string, sources: readonly Source[]): Promise<Selected>;
  open<T>(key: string, options: WaitOptions<T>): Promise<Wait<T>>;
  wait<T>(key: string, options: WaitOptions<T>): Promise<Waited<T>>;
  /** Closes a wait nobody needs answered any more. */
  withdraw(key: string, wait: Wait<unknown>): Promise<void>;
  /**
   * The next message from outside, in order; one that came early was kept. That there was none is not recorded: asked
   * again after a restart it may find one, so nothing recorded before the next saved state may depend on the answer.
   */
  receive(key: string, options: { readonly block: boolean }): Promise<CompleteMessage | undefined>;
  sleep(key: string, ms: number): Promise<void>;
  now(key: string): Promise<number>;
  id(key: string): Promise<string>;
  /**
   * What was said in this attempt, by earlier runs too, and in the attempts before that were stopped and resumed; how a
   * run that was handed over to finds the conversation.
   */
  messages(): Promise<CompleteMessage[]>;
  /**
   * What was said in the thread before this task: always the same, since the task begins when all of it is over. Empty for a task that belongs to no thread.
   */
  history(): Promise<CompleteMessage[]>;
  /** A message of the task's own making, kept as an event; returned as it is kept. */
  say(key: string, message: Message): CompleteMessage;
  /** An event of the run's own. */
  tell(key: string, event: OwnEvent): void;
  /** Own descendants only. */
  cancel(key: string, id: TaskId): Promise<TaskId[]>;
  send(key: string, id: TaskId, message: Message): Promise<void>;
  snapshot(key: string, ids: readonly TaskId[] | "descendants"): Promise<TaskSnapshot[]>;
  /** Ends this run; the next one starts on the same task under another agent. */
  handover(key: string, to: Handover): Promise<never>;
  /**
   * Gives this attempt up from inside and starts the next: its children are canceled, its waits withdrawn. The next one's
   * input and runner are recorded in the same commit. `refused` when the task has had all its attempts.
   */
  again(key: string, why: GivenUp): Promise<never>;
  /**
   * For a loop whose code ran elsewhere and was lost there: the same run begins again, as after a restart of Tutti. What was
   * recorded is not done again, and a step that was under way and may not be repeated has an unknown outcome.
   */
  replay(): Promise<never>;
}

/** A call of something whose code only the processes of a program have. */
export interface AttendedCall {
  readonly tree: TaskId;
  readonly wanted: Attended;
  readonly order: (call: string) => Extract<AttendOrder, { readonly kind: "tool" | "model" }>;
  /** How long it may take. */
  readonly withinMs: number;
  readonly live?: (channel: LiveChannel, text: string) => void;
  readonly onAgain?: (again: Extract<AttendNotice, { readonly kind: "again" }>["again"]) => void;
}

/** The processes that attend runs: those of the program that started a run make the calls of its own code. */
export interface Attendants {
  /**
   * Has one process make the call, whose id is noted in the step before it is asked. A repeated step asks the same process for
   * the same call, which that process has made at most once. Fails with the reason `unattended`, when no process is there and
   * nothing was done, or `process_gone`, when the process that had the call is gone and may have made it.
   */
  call(call: AttendedCall, step: Pick<StepContext, "key" | "noted" | "note" | "signal">): Promise<unknown>;
  /** Settles the wait once a process attends that has what is wanted. */
  settleWhenThere(tree: TaskId, wanted: Attended, wait: AskId): void;
}

/** Runs a task's loop. `config` is its own part of the invocation; what it returns is the result, what it throws fails the task. */
export type Runner = (durable: Durable, config: unknown) => Promise<unknown>;

/** Kind of runner → what runs its tasks. */
export type RunnerRegistry = Readonly<Record<string, Runner>>;

/** Runners that depend on the tree they work for, as on the project whose config holds there. */
export interface TreeRunners {
  readonly kinds: readonly string[];
  /** Whether some project may have a runner of this kind, beside `kinds`; which one a tree has, only `resolve` tells. */
  mayHave?(kind: string): boolean;
  /** Called once for each tree, by the first of its tasks that needs one; it may ask a person through that task. */
  resolve(durable: Durable): Promise<RunnerRegistry>;
  /** Called when everything in a tree is over, or the tree goes on elsewhere, if `resolve` was called for it here. */
  ended?(root: TaskId): void;
}

// ---- the outside face

/** What was first: an answer, the deadline, or nobody needing one any more. */
export type Settled =
  | { readonly kind: "answered"; readonly value: unknown; readonly by: Answerer }
  | { readonly kind: "expired" | "withdrawn" };

export type Delivery =
  /** `provisional`: it came before the task was back at its question after a restart; if it does not fit, it is asked again. */
  | { readonly outcome: "accepted"; readonly provisional?: true }
  | { readonly outcome: "late"; readonly message: string; readonly settled: Settled }
  | { readonly outcome: "unknown"; readonly message: string }
  | { readonly outcome: "invalid"; readonly message: string };

export interface StartOptions {
  /** The same key again finds the task that was started with it, while that is not over, unless `anew`. */
  readonly key?: string;
  readonly anew?: boolean;
  /**
   * The same key again gives the task that was started with it, over or not; with another content it is a `conflict`.
   * Takes the place of `key`.
   */
  readonly once?: { readonly key: string; readonly content: string };
  /** The task becomes the next one of this thread, in the same commit. It begins when all that was said there before is over. */
  readonly thread?: ThreadPlace;
  /** Labels that a node must have to run the tree. Refused where there are no nodes. */
  readonly needs?: readonly string[];
  /** Runners that its tasks are known to need, such as `acp:claude`. Of no account where there are no nodes. */
  readonly runners?: readonly string[];
}

/** Where a root task is said. */
export interface ThreadPlace {
  /** The folder of the project that the task belongs to; empty for none. */
  readonly project: string;
  /** The name or the id of a thread. A name that is new in the project, and null, begin a thread. */
  readonly thread: string | null;
  readonly kind: "agent" | "manager";
}

export interface MessageOptions {
  /** The caller has checked itself that there is room and that the sender may send so much. */
  readonly admitted?: true;
}

export interface Tasks {
  /** Returns once the task is durable. */
  start(
    task: NewTask,
    options?: StartOptions,
  ): Promise<{ readonly task: TaskId; readonly existed: boolean; readonly thread?: ThreadId }>;
  /** Settles a wait; the first answer wins. */
  deliver(wait: AskId, value: unknown, by: Answerer): Promise<Delivery>;
  message(task: TaskId, message: Message, options?: MessageOptions): Promise<void>;
  /** The whole subtree (invariant 4); returns the tasks that were not terminal. */
  cancel(task: TaskId, reason: string): Promise<TaskId[]>;
  /**
   * Cancels, but ends processes without asking them first. Resolves when the loops of these tasks have returned, so that
   * their folders are free.
   */
  kill(task: TaskId, reason: string): Promise<TaskId[]>;
  /** Gives up the running attempt and starts the next. The key is bound to the task in the same commit. */
  retry(task: TaskId, options?: Pick<StartOptions, "once">): Promise<void>;
  /**
   * Ends the running attempt as `stopped`; its children are canceled. The task then asks to be resumed, and the next
   * attempt goes on from where this one was. After 30 days without an answer it is canceled.
   */
  stopTask(task: TaskId, reason: string): Promise<void>;
  /** Stops and resumes in one commit, so that nobody is asked in between: the next attempt goes on at once. */
  interruptTask(task: TaskId, reason: string, by: Answerer): Promise<void>;
  /** Answers what `stopTask` asks. */
  resumeTask(task: TaskId, by: Answerer): Promise<void>;
  result(task: TaskId, signal?: AbortSignal): Promise<AgentResult>;
}

/** What is known at once of a task that is not over and of its children. */
export interface LiveSession {
  readonly task: TaskId;
  readonly agent: string;
  readonly runner: string;
  /** Its own children that are not over. */
  readonly children: readonly Omit<LiveSession, "children">[];
}

/** Everything that a service does to tasks, of whichever tree, and wherever that tree is. */
export interface TaskControl extends Tasks {
  /** Resolves when the task and all below it are over and on disk; rejects when the engine cannot go on. */
  settled(task: TaskId, signal?: AbortSignal): Promise<void>;
  /** Undefined when the task is over, or there is none. */
  session(task: TaskId): Promise<LiveSession | undefined>;
  /** The task that was started or retried under a key that counts once. */
  startedUnder(key: string): Promise<{ readonly task: TaskId; readonly content: string } | undefined>;
  /** Tasks that are not over, by status. */
  counts(): TaskCounts | Promise<TaskCounts>;
  /**
   * No new work begins from now on, over restarts too: no task is started and no step; what is under way finishes. Waits,
   * answers, messages and cancels go on; new tasks are taken and stay pending. The time does not count against anybody.
   */
  pause(): Promise<void>;
  resume(): Promise<void>;
}

type TaskCounts = Readonly<Record<"pending" | "running" | "input_required", number>>;
