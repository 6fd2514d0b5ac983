// Keeps the words of a program out of work that a person started, where they would count as the person's own.

import { taskBodyIn } from "../../engine/task-body.ts";
import { TuttiError } from "../../protocol/error.ts";
import type { TaskId } from "../../protocol/ids.ts";
import { isByProgram, type ProgramCaller } from "../../protocol/invocation/by-program.ts";
import { idInName } from "../../store/names.ts";
import type { StoreView } from "../../store/view.ts";

/** Throws `refused` when a program speaks in a person's tree. A task that is not there is for the caller to find. */
export async function mayTell(
  view: Pick<StoreView, "salt" | "place" | "taskRow">,
  task: TaskId,
  program: ProgramCaller | undefined,
): Promise<void> {
  if (program === undefined) return;
  const id = idInName(view.salt, task);
  const place = id === undefined ? undefined : await view.place(id);
  const root = place === undefined ? undefined : await view.taskRow(place.root);
  if (root === undefined || isByProgram(taskBodyIn(root.body).config)) return;
  throw new TuttiError(
    "refused",
    `${task} is a person's work, and a program sends messages only into work of programs`,
  );
}
