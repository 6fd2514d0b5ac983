// What the engine needs from a store: rows that are queued in order and durable when `committed` resolves.

import type { TuttiError } from "../protocol/error.ts";
import type { AskKind } from "../protocol/task/ask.ts";
import type { TaskEvent } from "../protocol/task/event.ts";
import type { TaskStatus, TerminalStatus } from "../protocol/task/task-status.ts";
import type { ThreadRecords } from "./threads.ts";
import type { Salt } from "./names.ts";

export type EventType = TaskEvent["type"];
export type OpenStatus = Exclude<TaskStatus, TerminalStatus>;

/** Inside, everything is an integer row; names are for the outside. */
export interface TaskRow {
  readonly id: number;
  readonly parent: number | null;
  readonly root: number;
  readonly depth: number;
  readonly kind: string;
  readonly agent: string;
  readonly detached: boolean;
  readonly created_at: number;
  readonly deadline: number | null;
  /** Row of the log whose body is the spawn's shared content. */
  readonly shared: number | null;
  /** `{input, config, rights, budget}` as JSON. */
  readonly body: string;
}

export interface RunRow {
  readonly id: number;
  readonly task: number;
  readonly attempt: number;
  readonly run: number;
  /** `{agent, input?, rights, runner?}` as JSON; null in the first run of an attempt that starts as the task itself does. */
  readonly body: string | null;
}

export type StepKind = "ok" | "failed" | "unknown" | "spawned" | "selected" | "received" | "noted" | "saved" | "event";

/**
 * One line of the log: what was recorded under a key, what happened, or both at once, so that content is kept once. Its id
 * names the row; where it stands among all events is `StoredEvent.seq`, which the store gives when it commits.
 */
export interface LogRow {
  readonly id: number;
  readonly run: number;
  /** Unique in the run. */
  readonly key: string;
  readonly at: number;
  readonly kind: StepKind;
  /** The event that readers are shown for this line; null for what only the run itself looks up. */
  readonly type: EventType | null;
  /** Fingerprint of the input; 0 when there is none. */
  readonly input: number;
  readonly tokens: number;
  readonly money: number;
  readonly body: string | null;
  /** The run's state as of this line. */
  readonly state: string | null;
  /** The message from outside that the run took with this line. */
  readonly mail: number | null;
}

/** Written before the body of a step that may not be repeated runs, or when a step notes something. */
export interface StepStart {
  readonly run: number;
  readonly key: string;
  readonly input: number;
  /** What the step noted, as JSON; null when it noted nothing. */
  readonly note: string | null;
}

export interface WaitRow {
  readonly id: number;
  readonly task: number;
  readonly root: number;
  readonly run: number;
  readonly key: string;
  readonly raised_at: number;
  readonly due: number;
  /** What kind of ask it is; null for a wait that an outside party settles by its id. */
  readonly ask: AskKind | null;
  /** `{ask?, label?, details?}` as JSON. */
  readonly body: string;
}

export interface AnswerRow {
  readonly wait: number;
  readonly kind: "answered" | "expired" | "withdrawn";
  readonly at: number;
  /** `{value, by, unverified?}` as JSON; null unless it was answered. */
  readonly body: string | null;
}

/** Who sent it: a person or program, or the worker of the attempt as progress or as a question. */
type MailKind = "message" | "worker_event" | "worker_ask";

export interface MailSent {
  readonly count: number;
  readonly bytes: number;
}

export interface MailRow {
  readonly id: number;
  readonly task: number;
  readonly body: string;
}

export interface ResultRow {
  readonly task: number;
  readonly status: TerminalStatus;
  readonly at: number;
  /** `{content}` or `{error}` or `{reason}` as JSON. */
  readonly body: string;
}

/** An event as it is read back. */
export interface StoredEvent {
  /** Its place among all events of the store, in the order of their commits. */
  readonly seq: number;
  readonly task: number;
  readonly root: number;
  readonly attempt: number;
  readonly run: number;
  readonly at: number;
  readonly type: EventType;
  readonly key: string;
  readonly kind: StepKind;
  readonly tokens: number;
  readonly money: number;
  readonly body: string | null;
}

/** A line with a message, and where it was said. */
export type SaidLine = Pick<StoredEvent, "attempt" | "run" | "key" | "at" | "body">;

export interface Spent {
  readonly task: number;
  readonly tokens: number;
  readonly money: number;
}

export interface ResumeCount {
  readonly task: number;
  readonly count: number;
}

/** The task that was started under a key, and a fingerprint of what it was started for. */
export interface KeyBinding {
  readonly task: number;
  readonly content: string;
}

type WithoutId<T> = Omit<T, "id">;

/**
 * Writes are queued and return at once; those of one tick are committed together, whole or not at all. Reads see what is
 * committed. If the disk is full, the store is stalled: the batch stays queued and is tried again until there is room.
 * After any other failed commit every call throws `failure`.
 */
export interface Store extends ThreadRecords {
  /** Random, made with the store; part of every name it gives. */
  readonly salt: Salt;
  readonly failure: TuttiError | undefined;
  /**
   * Why nothing can be written at the moment: the disk is full. `committed` resolves when there is room again. Until then
   * new work has to be refused and loops have to wait, because everything that is queued is held in memory.
   */
  readonly stalled: TuttiError | undefined;
  /** If the store is stalled, it fails for good, so that a process that stops need not wait for room. */
  giveUpStalled(): void;
  /** Names the batch that is being queued. A record is durable once `isDurable` is true for the batch it was queued in. */
  readonly batch: number;
  isDurable(batch: number): boolean;
  committed(): Promise<void>;
  /** Called after every commit, when the store stalls, and once when writing failed for good. */
  onCommit(listener: () => void): () => void;
  close(): void;

  /** A root task has no `root` yet: it is its own. A new task is `pending`. */
  addTask(task: Omit<TaskRow, "id" | "root"> & { readonly root: number | null }): number;
  /** The status of a task that is not over; `addResult` sets the final one. */
  setStatus(task: number, status: OpenStatus): void;
  /** The key finds this task from now on, in place of any other. */
  bindKey(key: string, binding: KeyBinding): void;
  addResult(result: ResultRow): void;
  addRun(run: WithoutId<RunRow>): number;
  addLog(line: WithoutId<LogRow>): number;
  addStepStart(start: StepStart): void;
  noteStepStart(run: number, key: string, note: string): void;
  /** When a sleep or the clocks of a select are due. */
  addTimer(run: number, key: string, due: number): void;
  addWait(wait: WithoutId<WaitRow>): number;
  addAnswer(answer: AnswerRow): void;
  /** The wait is open again. */
  dropAnswer(wait: number): void;
  addMail(task: number, body: string): number;
  /** A line that is only an event; its key is made up. */
  addEvent(event: Pick<LogRow, "run" | "at" | "body"> & { readonly type: EventType }): void;

  /** How often in a row the task was under way when the process ended; 0 forgets it. */
  setResumes(task: number, count: number): void;
  /** Of the tasks of the tree that have such a count. */
  resumesOf(root: number): ResumeCount[];

  /** Kept beside the tasks, by name. */
  putSetting(name: string, value: string): void;
  setting(name: string): string | undefined;

  task(id: number): TaskRow | undefined;
  /** Roots of the trees that need a process: with a task that is not over, or with a note of a step that was cut off. */
  unfinishedTrees(): number[];
  /** Tasks of the tree without a result and all their ancestors, parents first. */
  openTasks(root: number): TaskRow[];
  tree(root: number): TaskRow[];
  boundKey(key: string): KeyBinding | undefined;
  result(task: number): ResultRow | undefined;
  lastRun(task: number): RunRow | undefined;
  logAt(run: number, key: string): LogRow | undefined;
  logById(id: number): LogRow | undefined;
  lastState(run: number): LogRow | undefined;
  stepStart(run: number, key: string): StepStart | undefined;
  timer(run: number, key: string): number | undefined;
  wait(run: number, key: string): WaitRow | undefined;
  waitById(id: number): WaitRow | undefined;
  /** The wait opened under the key in this run of the attempt, or in any run of it. */
  waitAt(task: number, attempt: number, key: string, run?: number): WaitRow | undefined;
  /** Of tasks that are not over, in the order they were opened. */
  openWaits(): WaitRow[];
  /** Their ids alone: the waits themselves may be long. */
  openWaitIds(): number[];
  waitsOf(root: number): WaitRow[];
  answer(wait: number): AnswerRow | undefined;
  nextMail(task: number, after: number): MailRow | undefined;
  lastMailTaken(task: number): number | undefined;
  /** How much mail of this kind the attempt was sent. Mail that an earlier attempt had not taken yet counts for this one. */
  mailSent(task: number, attempt: number, kind: MailKind): MailSent;
  /** The messages of one attempt of a task, in order. */
  messages(task: number, attempt: number): SaidLine[];
  /** The last message of the task. */
  lastMessage(task: number): SaidLine | undefined;
  /** The types of the task's events that move its status, in order. */
  lifeEvents(task: number): EventType[];
  /** When the first attempt of the task began; undefined while it is pending. */
  startedAt(task: number): number | undefined;
  /** Of one task, or of all. */
  lastEventAt(task: number | null): number | undefined;
  /**
   * What steps of the tree noted whose outcome is not known: they were under way when the process ended. Steps of tasks
   * that are over and of attempts that were given up are among them, since a cancel does not wait for what it ends.
   */
  openNotes(root: number): string[];
  spentOf(root: number): Spent[];
  eventsAfter(after: number, limit: number): StoredEvent[];
  eventsOf(task: number, after: number, limit: number): StoredEvent[];
}
