// What the parts of the engine share, as plain data: whoever is given it can reach the store, the clock and the live tasks.

import type { TaskId } from "../protocol/ids.ts";
import type { LiveDelta } from "../protocol/task/event.ts";
import type { AgentResult } from "../protocol/invocation/invocation-result.ts";
import type { CompleteMessage } from "../protocol/task/message.ts";
import type { Clock } from "../ports.ts";
import type { Store } from "../store/store.ts";
import type { DayCap } from "./day-cap.ts";
import type { LiveTask } from "./live-task.ts";
import type { LiveTasks } from "./live-tasks.ts";
import type { PauseSwitch } from "./pause-switch.ts";
import type { Recorder } from "./recorder.ts";
import type { ResumeTrials } from "./resume-trials.ts";
import type { Runners } from "./runners.ts";
import type { Slots } from "./slots.ts";
import type { Waits } from "./waits.ts";

export interface EngineParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly recorder: Recorder;
  readonly slots: Slots;
  readonly tasks: LiveTasks;
  readonly waits: Waits;
  /** Over all trees, of all processes. */
  readonly day: DayCap;
  readonly pause: PauseSwitch;
  readonly runners: Runners;
  readonly trials: ResumeTrials;
  /** Queues the loop of a task that has none; the driver's. */
  readonly launch: (task: LiveTask) => void;
  /** Told of a tree with a task whose runner is not here; undefined where no other process could have it. */
  missing: ((root: number) => void) | undefined;
  /** Text that is being written: shown, not kept. */
  readonly onLive: (delta: LiveDelta) => void;
  /** Told of what a step notes; awaited before the step goes on. */
  readonly guard: ((note: unknown) => Promise<void>) | undefined;
  /** What was said in the thread of a task before it. */
  readonly history: (task: TaskId) => Promise<CompleteMessage[]>;
  /** Resolves when the task is over, wherever it is; rejects when this process has to stop. */
  readonly untilOver: (task: TaskId) => Promise<Pick<AgentResult, "status">>;
}
