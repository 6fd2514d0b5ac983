// What a front can do with Tutti: look at its tasks, and work with them. Fronts know this and nothing behind it.

import type { Answerer, Ask } from "../protocol/ask.ts";
import type { LiveDelta, TaskEvent } from "../protocol/event.ts";
import type { AskId, TaskId } from "../protocol/ids.ts";
import type { AgentResult } from "../protocol/invocation-result.ts";
import type { RootView, TaskView } from "../protocol/task-view.ts";
import type { Project } from "./project.ts";

export type OpenAsk = Extract<Ask, { status: "open" }>;

/** A wait that an outside party settles by its id, such as the result of a client's tool. */
export interface OpenWait {
  readonly id: AskId;
  readonly task: TaskId;
  readonly label: string;
  /** The call whose result is waited for, when it is that of a client's tool. */
  readonly call?: { readonly tool_name: string; readonly input: unknown };
  readonly deadline: number;
}

/** Looking changes nothing and is possible beside whoever works. */
export interface Looking {
  /** Roots, newest first. */
  roots(options: { readonly limit: number }): RootView[];
  /** The task and all below it, parents first. */
  tree(task: TaskId): TaskView[];
  /** Events of the task and all below it after `after`, in order, at most `limit`. */
  events(task: TaskId, options: { readonly after: number; readonly limit: number }): TaskEvent[];
  asks(): OpenAsk[];
  waits(): OpenWait[];
  close(): void;
}

type Delivered = { readonly accepted: true } | { readonly accepted: false; readonly message: string };

/** One process at a time works on a state folder. */
export interface Working {
  readonly looking: Looking;
  /** How many tasks were found unfinished and go on. */
  readonly resumed: number;
  /** Unfinished tasks of a runner this version does not have; they are left as they are. */
  readonly parked: readonly { readonly task: TaskId; readonly runner: string }[];
  /** Starts the invocation in `text`; the same text again finds the unfinished one, unless `anew`. */
  invoke(
    text: string,
    options: { readonly folder: string; readonly anew: boolean },
  ): Promise<{ readonly task: TaskId; readonly existed: boolean; readonly warnings: readonly string[] }>;
  result(task: TaskId, signal?: AbortSignal): Promise<AgentResult>;
  deliver(wait: AskId, value: unknown, by: Answerer): Promise<Delivered>;
  cancel(task: TaskId, reason: string): Promise<TaskId[]>;
  /** Resolves when the task and all below it are over. */
  settled(task: TaskId): Promise<void>;
  /** Called after something was recorded. */
  onChange(listener: () => void): () => void;
  onLive(listener: (delta: LiveDelta) => void): () => void;
  /** Leaves what still runs to the next start. */
  close(): Promise<void>;
}

interface Pruned {
  readonly trees: number;
  readonly tasks: number;
  readonly bytes_before: number;
  readonly bytes_after: number;
}

/** How a front gets at a state folder; the entry of the command injects it. */
export interface Opener {
  look(folder: string): Looking;
  /** `from`: the folder whose project's config says which models and tools there are; the current one when absent. */
  work(folder: string, options?: { readonly from?: string }): Promise<Working>;
  /** Removes finished trees: those that ended before `endedBefore`, then the oldest until the file is small enough. */
  prune(folder: string, options: { readonly endedBefore?: number; readonly maxBytes?: number }): Pruned;
  /** `from` is a folder in the project. */
  project(from: string): Promise<Project>;
}
