// What a front can do with Tutti: look at its tasks, and work with them. Fronts know this and nothing behind it.

import type { PolicyDecision, PolicyQuestion } from "../protocol/api/catalog.ts";
import type { KeyView, MadeKey, NewKey, ServiceStatus } from "../protocol/api/service.ts";
import type {
  MessagePage,
  OpenAsk,
  OpenWait,
  PageQuery,
  Started,
  StepPage,
  TaskListQuery,
  TaskPage,
} from "../protocol/api/task-shapes.ts";
import type { Answerer } from "../protocol/task/ask.ts";
import type { LiveDelta, TaskEvent } from "../protocol/task/event.ts";
import type { AskId, TaskId } from "../protocol/ids.ts";
import type { AgentResult } from "../protocol/invocation/invocation-result.ts";
import type { OperatorInfo } from "../protocol/operator/operator-session.ts";
import type { TaskView } from "../protocol/task/task-view.ts";

/** What a follower is told: what happened, kept and in order; or text on its way, which is not. */
export type FollowItem = { readonly event: TaskEvent } | { readonly live: LiveDelta };

export interface FollowOptions {
  /** Only this task and those below it; the following ends when they are over. */
  readonly task?: TaskId;
  /** The last sequence that was seen. */
  readonly after?: number;
  /** Text on its way too. */
  readonly live?: boolean;
  readonly signal?: AbortSignal;
}

/** Reading changes nothing, and works beside the process that runs the tasks. */
export interface Reader {
  tasks(query?: TaskListQuery): Promise<TaskPage>;
  task(task: TaskId): Promise<TaskView>;
  /** The task and all below it, parents first. */
  tree(task: TaskId): Promise<TaskView[]>;
  messages(task: TaskId, page: PageQuery): Promise<MessagePage>;
  steps(task: TaskId, page: PageQuery): Promise<StepPage>;
  /** Events after `after`, in order, at most `limit`; of the task and all below it when one is named. */
  events(options: {
    readonly task?: TaskId;
    readonly after: number;
    readonly limit: number;
  }): Promise<readonly TaskEvent[]>;
  /** Misses nothing and tells nothing twice (invariant 9), over lost connections and restarts too. */
  follow(options: FollowOptions): AsyncIterable<FollowItem>;
  asks(task?: TaskId): Promise<readonly OpenAsk[]>;
  waits(task?: TaskId): Promise<readonly OpenWait[]>;
  close(): Promise<void>;
}

export type Delivered =
  | { readonly accepted: true }
  | { readonly accepted: false; readonly code: "late" | "unknown" | "invalid"; readonly message: string };

/** Everything a front can do; the same in process and over the wire. */
export interface Tutti extends Reader {
  /** Undefined when the work is done in this process. */
  readonly url: string | undefined;
  status(): Promise<ServiceStatus>;
  /** Starts the invocation in `text`; the same text again finds the unfinished one, unless `anew`. */
  invoke(
    text: string,
    options: {
      readonly folder: string;
      readonly anew?: boolean;
      /** The same key again gives the task that was made with it, finished or not. */
      readonly key?: string;
    },
  ): Promise<Started>;
  /** Waits for the task to end. */
  result(task: TaskId, signal?: AbortSignal): Promise<AgentResult>;
  /** Resolves when the task and all below it are over. */
  settled(task: TaskId, signal?: AbortSignal): Promise<void>;
  /** Answers an ask. `by` is for the work in process; over the wire the key says who speaks. */
  answer(ask: AskId, answer: unknown, by: Answerer): Promise<Delivered>;
  /** Settles a wait of a client's own tool. */
  settle(wait: AskId, value: unknown, by: Answerer): Promise<Delivered>;
  cancel(task: TaskId, reason: string): Promise<readonly TaskId[]>;
  /** Says something to the task; it hears it at its next turn. */
  tell(task: TaskId, text: string): Promise<void>;
  /** No new work begins until `resume`; over restarts too. */
  pause(): Promise<void>;
  resume(): Promise<void>;
  route(question: PolicyQuestion): Promise<PolicyDecision>;
  operators(): Promise<readonly OperatorInfo[]>;
  keys(): Promise<readonly KeyView[]>;
  addKey(key: NewKey): Promise<MadeKey>;
  revokeKey(id: string): Promise<void>;
  /** In process: leaves what still runs to the next start. Over the wire: only lets go of the connection. */
  close(): Promise<void>;
}
