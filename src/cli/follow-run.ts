// Follows a run to its end for a command: shows it, puts its questions to the person, and returns the finished tree.
import type { Tutti } from "../client/client.ts";
import type { TaskId } from "../protocol/ids.ts";
import { pauseText, watchForPause } from "./pause-notice.ts";
import { inlineQuestions } from "./terminal/inline-questions.ts";
import { warn } from "./terminal/output.ts";
import type { Display } from "./terminal/display.ts";
import { type FinishedTree, watchTask } from "./terminal/watch-task.ts";

export interface FollowRunOptions {
  readonly task: TaskId;
  /** Nothing is shown without one. */
  readonly display: Display | undefined;
  /** The display shows text while it is being written. */
  readonly live: boolean;
  /** `--state` as it was given. */
  readonly state: string | undefined;
}

export async function followRun(tutti: Tutti, options: FollowRunOptions): Promise<FinishedTree> {
  const { task, display, live, state } = options;
  const questions = inlineQuestions(tutti, { display, state });
  const pause = watchForPause(tutti, (paused) => {
    display?.pause();
    warn(paused ? pauseText(state) : "the pause is over, and the work goes on");
    display?.resume();
  });
  const listeners = [...(display === undefined ? [] : [display.update]), questions.update, pause.heard];
  try {
    return await watchTask(tutti, { task, live }, listeners);
  } finally {
    pause.stop();
    await questions.stop();
    display?.stop();
  }
}
