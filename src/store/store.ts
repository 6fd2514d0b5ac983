// What the engine needs from a store: rows that are queued in order and durable when `committed` resolves.

import type { TuttiError } from "../protocol/error.ts";
import type { TerminalStatus } from "../protocol/task/task-status.ts";

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
  /** `{input, config, rights, budget, key?}` as JSON. */
  readonly body: string;
}

export interface RunRow {
  readonly id: number;
  readonly task: number;
  readonly attempt: number;
  readonly run: number;
  /** `{agent, input, rights}` of a handover as JSON; null in the first run, whose input is the task's. */
  readonly body: string | null;
}

export type StepKind = "ok" | "failed" | "unknown" | "spawned" | "selected" | "received" | "noted" | "saved" | "event";

/**
 * One line of the log: what was recorded under a key, what happened, or both at once, so that content stands once. The id
 * is the global sequence of events.
 */
export interface LogRow {
  readonly id: number;
  readonly run: number;
  /** Unique in the run. */
  readonly key: string;
  readonly at: number;
  readonly kind: StepKind;
  /** What readers of events see of it; null for what only the run itself looks up. */
  readonly type: string | null;
  /** Fingerprint of the input; 0 when there is none. */
  readonly input: number;
  readonly tokens: number;
  readonly money: number;
  readonly body: string | null;
  /** The run's state as of this line. */
  readonly state: string | null;
}

export interface ClaimRow {
  readonly run: number;
  readonly key: string;
  readonly input: number;
  readonly body: string | null;
}

export interface WaitRow {
  readonly id: number;
  readonly task: number;
  readonly root: number;
  readonly run: number;
  readonly key: string;
  readonly raised_at: number;
  readonly due: number;
  /** `{ask?, label?}` as JSON. */
  readonly body: string;
}

export interface AnswerRow {
  readonly wait: number;
  readonly kind: "answered" | "expired" | "withdrawn";
  readonly at: number;
  /** `{value, by}` as JSON. */
  readonly body: string | null;
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
  readonly id: number;
  readonly task: number;
  readonly root: number;
  readonly attempt: number;
  readonly run: number;
  readonly at: number;
  readonly type: string;
  readonly key: string;
  readonly kind: StepKind;
  readonly tokens: number;
  readonly money: number;
  readonly body: string | null;
}

export interface Spent {
  readonly task: number;
  readonly tokens: number;
  readonly money: number;
}

type WithoutId<T> = Omit<T, "id">;

/**
 * Writes are queued and return at once; those of one tick are committed together, whole or not at all. Reads see what is
 * committed. After a failed commit every call throws `failure`.
 */
export interface Store {
  /** Random, made with the store; part of every name it gives. */
  readonly salt: string;
  readonly failure: TuttiError | undefined;
  committed(): Promise<void>;
  /** Called after every commit, and once when writing failed for good. */
  onCommit(listener: () => void): () => void;
  close(): void;

  /** A root has no `root` yet: it is its own. */
  addTask(task: Omit<TaskRow, "id" | "root"> & { readonly root: number | null }): number;
  /** The key finds this task from now on. */
  bindKey(key: string, task: number): void;
  addResult(result: ResultRow): void;
  addRun(run: WithoutId<RunRow>): number;
  addLog(line: WithoutId<LogRow>): number;
  addClaim(claim: ClaimRow): void;
  noteClaim(run: number, key: string, body: string): void;
  addWait(wait: WithoutId<WaitRow>): number;
  addAnswer(answer: AnswerRow): void;
  /** The wait is open again. */
  dropAnswer(wait: number): void;
  addMail(task: number, body: string): number;
  /** A line that is only an event; its key is made up. */
  addEvent(event: Pick<LogRow, "run" | "at" | "body"> & { readonly type: string }): number;

  /** Kept beside the tasks, by name. */
  putSetting(name: string, value: string): void;
  setting(name: string): string | undefined;

  task(id: number): TaskRow | undefined;
  /** Tasks without a result and all their ancestors, parents first. */
  openTasks(): TaskRow[];
  tree(root: number): TaskRow[];
  taskOfKey(key: string): number | undefined;
  result(task: number): ResultRow | undefined;
  lastRun(task: number): RunRow | undefined;
  logAt(run: number, key: string): LogRow | undefined;
  logById(id: number): LogRow | undefined;
  lastState(run: number): LogRow | undefined;
  claim(run: number, key: string): ClaimRow | undefined;
  wait(run: number, key: string): WaitRow | undefined;
  waitById(id: number): WaitRow | undefined;
  waitsOf(root: number): WaitRow[];
  answer(wait: number): AnswerRow | undefined;
  nextMail(task: number, after: number): MailRow | undefined;
  lastMailTaken(task: number): number | undefined;
  /** Bodies of the messages of one attempt of a task, in order. */
  messages(task: number, attempt: number): string[];
  /** The last event that bears on its status. */
  lastLife(task: number): string | undefined;
  /** Of one task, or of all. */
  lastEventAt(task: number | null): number | undefined;
  /** The text of the last message, shortened. */
  lastText(task: number): string | undefined;
  /**
   * What steps noted whose outcome is not known: it was under way when the process ended. Of tasks that are over and of
   * attempts that were given up too, since a cancel does not wait for what it ends.
   */
  openNotes(): string[];
  spentOf(root: number): Spent[];
  eventsAfter(after: number, limit: number): StoredEvent[];
  eventsOf(task: number, after: number, limit: number): StoredEvent[];
}
