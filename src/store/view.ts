// What can be looked at in a store without taking its lock.

import type { TaskStatus } from "../protocol/task/task-status.ts";
import type { RequestBeginning } from "./request-beginning.ts";
import type { ThreadReads } from "./threads.ts";
import type { AnswerRow, EventType, ResultRow, StoredEvent, TaskRow, WaitRow } from "./store.ts";
import type { Salt } from "./names.ts";

/** A task with what is known of it across the tables; without its record and without a long result. */
export interface TaskListing extends Omit<TaskRow, "body"> {
  readonly status: TaskStatus;
  readonly attempt: number;
  readonly run: number;
  readonly ended_at: number | null;
  readonly steps: number;
  readonly tokens: number;
  readonly money: number;
  /** The body of its result if that is short; null if it is long, and before there is one. */
  readonly result: string | null;
  /** The beginning of a long result. */
  readonly preview: string | null;
  /** How long the body of its result is; null before there is one. */
  readonly result_bytes: number | null;
}

/** Where a task stands in its tree, and whether it is over. */
export type TaskPlace = Pick<TaskListing, "id" | "root" | "status">;

/** An open wait without its body, which may be long: only the beginnings of its texts. */
export interface WaitListing extends Omit<WaitRow, "run" | "key" | "body"> {
  readonly question: string | null;
  readonly label: string | null;
  /** Of a call that the client carries out itself. */
  readonly tool_name: string | null;
  readonly input: string | null;
  /** How long the body is. */
  readonly bytes: number;
}

/** How much is read at a time. */
export interface ReadLimits {
  readonly limit: number;
  /** In characters. The row that reaches it is the last, so there is always at least one if there are any. */
  readonly maxLength?: number | undefined;
}

/** What comes after a sequence. */
export interface Page extends ReadLimits {
  readonly after: number;
}

export interface Rows<T> {
  readonly rows: T[];
  /** There were more when it was read. */
  readonly more: boolean;
}

export interface TaskFilter extends ReadLimits {
  /** The last task of the page before; those that are older follow. */
  readonly after?: number;
  readonly status?: TaskStatus;
  readonly agent?: string;
  readonly runner?: string;
  readonly parent?: number;
  /** Roots only. */
  readonly roots?: boolean;
  /** Only tasks that are not over and have a session of their own: everything but invocations. */
  readonly sessions?: boolean;
}

export interface WaitFilter extends Page {
  /** Asks, or waits that are none. */
  readonly asks: boolean;
  /** Only of this task and all below it. */
  readonly below?: number | undefined;
}

/** An event with the rows it points at, so that it can be shown without another read. */
export interface EventRecord extends StoredEvent {
  /** Of `task.created`: the task. */
  readonly made?: TaskRow;
  /** Of an event that ends a task: its result. */
  readonly result?: ResultRow;
  /** Of an ask's events and of `wait.opened`: the wait, and the answer where it was answered. */
  readonly wait?: WaitRow;
  readonly answer?: AnswerRow;
}

/** What a task was asked, in bounded texts, and how the targets of its invocation ended. */
export interface TaskRequest extends RequestBeginning {
  readonly failed: number;
  readonly canceled: number;
}

/** Of all tasks of a tree. */
interface TreeUse {
  readonly tokens: number;
  readonly money: number;
  /** Open waits that an operator or its worker settles. */
  readonly operator_requests: number;
}

/** What the limits of a tree are held against, beside what its tasks used. */
export interface TreeLimits {
  /** Tasks ever made in it. */
  readonly tasks: number;
  /** Bodies of the last 100 `budget.raised` of the tree, the newest first. */
  readonly raised: readonly string[];
  /** When a person was asked something, and until when; null while the question is open. */
  readonly asked: readonly { readonly from: number; readonly to: number | null }[];
}

/** The events before one of them. */
export interface Before extends ReadLimits {
  /** A sequence; the newest events when absent. */
  readonly before?: number | undefined;
  /** Only events of these types. */
  readonly types?: readonly EventType[] | undefined;
}

/** Reads are asynchronous, since a store may be on another machine; each sees what was committed when it was made. */
export interface StoreView extends ThreadReads {
  readonly salt: Salt;
  /** A setting of the service; undefined when it was never set. */
  setting(name: string): Promise<string | undefined>;
  /** How many tasks of the root's tree have not ended. */
  unfinished(root: number): Promise<number>;
  /** Undefined when there is no such task. */
  place(id: number): Promise<TaskPlace | undefined>;
  request(task: number): Promise<TaskRequest>;
  treeOf(root: number): Promise<TreeUse>;
  treeLimits(root: number): Promise<TreeLimits>;
  /** What the task and all below it used. */
  usedBelow(task: number): Promise<Pick<TreeUse, "tokens" | "money">>;
  /** What all tasks together used since then. */
  usedSince(at: number): Promise<Pick<TreeUse, "tokens" | "money">>;
  task(id: number): Promise<TaskListing | undefined>;
  /** As it was recorded, with all that it was given. */
  taskRow(id: number): Promise<TaskRow | undefined>;
  /** The whole body of its result, however long. */
  result(task: number): Promise<string | undefined>;
  /** Newest first. A task that is added later is newer than every cursor, so pages neither miss nor repeat one. */
  tasks(filter: TaskFilter): Promise<Rows<TaskListing>>;
  /** The task and all below it, parents first. */
  below(id: number): Promise<TaskPlace[]>;
  /** A page of the task and all below it, parents first; `after` is the last task of the page before. */
  tree(id: number, page: Page): Promise<Rows<TaskListing>>;
  wait(id: number): Promise<WaitRow | undefined>;
  /** The wait if nobody has settled it and its task is not over. */
  openWait(id: number): Promise<WaitRow | undefined>;
  /** In the order they were opened. */
  openWaits(filter: WaitFilter): Promise<Rows<WaitListing>>;
  /** How many asks are open. */
  openAsks(): Promise<number>;
  /** Of the task and all below it, in order. */
  events(task: number, page: Page): Promise<Rows<EventRecord>>;
  /** Of everything, in order. */
  eventsAfter(page: Page): Promise<Rows<EventRecord>>;
  /** The last events of the task itself, or those before an event; oldest first. */
  recentEvents(task: number, page: Before): Promise<Rows<EventRecord>>;
  /** The sequence of the last event; 0 when there is none. */
  lastEvent(): Promise<number>;
  /** Outcomes of the task's own steps, of all its attempts, in order. */
  steps(task: number, page: Page): Promise<Rows<StoredEvent>>;
  /** What was said in the task itself, in all its attempts, in order. */
  messages(task: number, page: Page): Promise<Rows<StoredEvent>>;
  close(): void;
}
