// What a task left of its work, wherever it worked, from the event that tells of it.

import { z } from "zod";

import type { TaskId } from "../../protocol/ids.ts";
import type { SavedWork } from "../../runner/shared/work-elsewhere.ts";
import { idInName } from "../../store/names.ts";
import type { StoreView } from "../../store/view.ts";

const Saved = z.looseObject({
  branch: z.string().nullable(),
  tip: z.string().nullable(),
  machine: z.string().optional(),
  /** Ends with the attempt. */
  workspace: z.string().regex(/-\d+$/),
});
const longestEvent = 1024 * 1024;

/** Undefined when it saved nothing. */
export async function savedWorkOf(view: StoreView, task: TaskId): Promise<SavedWork | undefined> {
  const id = idInName(view.salt, task);
  if (id === undefined) return undefined;
  const { rows } = await view.recentEvents(id, { limit: 1, maxLength: longestEvent, types: ["session.saved"] });
  const [event] = rows;
  const read = Saved.safeParse(JSON.parse(event?.body ?? "null"));
  if (!read.success) return undefined;
  const { branch, tip, machine, workspace } = read.data;
  return { branch, tip, machine, attempt: Number(workspace.slice(workspace.lastIndexOf("-") + 1)) };
}
