// Shows a goal while it is pursued: on a terminal a tree that is redrawn in place, elsewhere one line for each thing that happens.
import { emptyGoal, foldGoal } from "../../core/fold-goal.ts";
import type { TaskId } from "../../protocol/ids.ts";
import type { Display } from "./display.ts";
import { goalLine } from "./goal-line.ts";
import { drawGoal } from "./goal-tree.ts";
import { redrawn } from "./progress.ts";
import { note, standardError, standardOutput } from "./screen.ts";

/** `task` is the one of the goal's manager. */
export function showGoal(task: TaskId): Display {
  const folded = emptyGoal(task);
  if (standardError.isTerminal) {
    const display = redrawn(standardError, (tree, options) => drawGoal(folded, tree, options));
    return {
      ...display,
      update(item, tree) {
        if ("event" in item) foldGoal(folded, item.event);
        display.update(item, tree);
      },
    };
  }
  return silentlyPaused((item, tree) => {
    if (!("event" in item)) return;
    foldGoal(folded, item.event);
    const line = goalLine(item.event, folded, tree);
    if (line !== undefined) note(line);
  });
}

/** For programs: every event as one line of JSON on standard output. */
export function printEvents(): Display {
  return silentlyPaused((item) => {
    if ("event" in item) standardOutput.write(`${JSON.stringify(item)}\n`);
  });
}

function silentlyPaused(update: Display["update"]): Display {
  return { update, pause: () => undefined, resume: () => undefined, stop: () => undefined };
}
