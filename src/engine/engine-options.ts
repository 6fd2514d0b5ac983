// What an engine is given when it is made, and what a start can be told besides what every front may say.

import type { TuttiError } from "../protocol/error.ts";
import type { TaskId } from "../protocol/ids.ts";
import type { LiveDelta } from "../protocol/task/event.ts";
import type { AgentResult } from "../protocol/invocation/invocation-result.ts";
import type { CompleteMessage } from "../protocol/task/message.ts";
import type { Clock, RunnerRegistry, StartOptions, TreeRunners } from "../ports.ts";
import type { Store } from "../store/store.ts";
import type { DayCap } from "./day-cap.ts";
import type { Redact } from "./recorder.ts";
import type { TreeOptions } from "./trees.ts";

export interface EngineOptions extends TreeOptions {
  readonly store: Store;
  readonly clock: Clock;
  /** Runners that are the same for all trees. */
  readonly runners: RunnerRegistry;
  /** Runners that are resolved for each tree. */
  readonly treeRunners?: TreeRunners;
  /** Other processes run other trees of the same store. */
  readonly sharesStore?: boolean;
  /** What all trees may use in a day; nothing is capped when absent. */
  readonly day?: DayCap;
  /** Tasks that run at the same time, over all trees. */
  readonly slots?: number;
  /** Text that is being written: shown, not kept. */
  readonly onLive?: (delta: LiveDelta) => void;
  /** Told of what a step notes, such as a process that it is about to start; awaited before the step goes on. */
  readonly guard?: (note: unknown) => Promise<void>;
  /** What was said in the thread of a task before it; nothing when absent. */
  readonly history?: (task: TaskId) => Promise<CompleteMessage[]>;
  /** Resolves when a task is over that may be at another process; only those here are known when absent. */
  readonly untilOver?: (task: TaskId) => Promise<Pick<AgentResult, "status">>;
  /** Takes out of every text that is recorded what must not be kept, before anybody gets it; valid JSON must stay valid. */
  readonly redact?: Redact;
  /** Why no new work is taken, such as a disk that is almost full; undefined while it is. Running tasks go on. */
  readonly refusesWork?: () => TuttiError | undefined;
}

/** How many tasks run at the same time when the options do not say. */
export const defaultSlots = 64;

export interface EngineStart extends StartOptions {
  /** Called in the commit that makes the tree, with its root. False: another process takes it over, and it is forgotten here. */
  readonly place?: (root: number) => boolean;
}
