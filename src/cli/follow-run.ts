// Follows a run to its end for a command: shows it, puts its questions to the person, and returns the finished tree.
import type { Tutti } from "../client/client.ts";
import type { TaskId } from "../protocol/ids.ts";
import { pauseText, watchForPause } from "./pause-notice.ts";
import type { Revive } from "./revive-daemon.ts";
import { announcedQuestions, inlineQuestions, type Questions } from "./terminal/inline-questions.ts";
import { warn } from "./terminal/output.ts";
import type { Display } from "./terminal/display.ts";
import { canAsk } from "./terminal/terminal-prompt.ts";
import { unattendedQuestions } from "./unattended-questions.ts";
import { type FinishedTree, type TaskListener, watchTask } from "./terminal/watch-task.ts";

export interface FollowRunOptions {
  readonly task: TaskId;
  /** Nothing is shown without one. */
  readonly display: Display | undefined;
  /** The display shows text while it is being written. */
  readonly live: boolean;
  /** `--state` as it was given. */
  readonly state: string | undefined;
  readonly answering?: AnsweringOptions | undefined;
  /** Brings back the daemon when it is gone. */
  readonly revive?: Revive | undefined;
}

/** How the command is to deal with questions. */
export interface AnsweringOptions {
  /** False with `--no-input`: nobody is asked here. */
  readonly input?: boolean;
  /** Grants approvals without asking. */
  readonly yes?: boolean;
  /** Without a terminal, waits until somebody answers elsewhere. */
  readonly wait?: boolean;
}

export async function followRun(tutti: Tutti, options: FollowRunOptions): Promise<FinishedTree> {
  const { task, display, live, state, revive } = options;
  const onLost = async (): Promise<void> => {
    // A clock that goes on would look like work.
    display?.pause();
    await revive?.();
    display?.resume();
  };
  const questions = questionsFor(tutti, options);
  const pause = watchForPause(tutti, (paused) => {
    display?.pause();
    warn(paused ? pauseText(state) : "the pause is over, and the work goes on");
    display?.resume();
  });
  const listeners: TaskListener[] = [
    ...(display === undefined ? [] : [display.update]),
    questions.update,
    pause.heard,
    unknownPriceWarning(display),
  ];
  try {
    const watching = watchTask(tutti, { task, live, onLost }, listeners);
    // When the command leaves, its client is closed, which ends the watching with an error that nobody waits for.
    watching.catch(() => undefined);
    return await (questions.left === undefined ? watching : Promise.race([watching, questions.left]));
  } finally {
    pause.stop();
    await questions.stop();
    display?.stop();
  }
}

function questionsFor(tutti: Tutti, { display, state, answering = {} }: FollowRunOptions): Questions {
  const yes = answering.yes === true;
  if (answering.input !== false && canAsk()) return inlineQuestions(tutti, { display, state, yes });
  if (answering.wait === true) return announcedQuestions(tutti, { state, yes });
  return unattendedQuestions(tutti, { state, yes });
}

/** Says once that the money is too little. */
function unknownPriceWarning(display: Display | undefined): TaskListener {
  let isSaid = false;
  return (_, tree) => {
    if (isSaid || !tree.unpriced) return;
    isSaid = true;
    display?.pause();
    warn(
      "the price of a model is not known, so the budget counts its calls as $0; set it under `prices` in the config",
    );
    display?.resume();
  };
}
