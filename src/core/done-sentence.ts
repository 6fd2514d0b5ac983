// What it means that a goal is done, in a sentence that claims no more than there was.

import type { Goal } from "../protocol/task/goal.ts";

export function doneSentence({ acceptance }: Pick<Goal, "acceptance">): string {
  if (acceptance.length === 0) return "every task is verified; no criteria were named for the whole";
  return "every task is verified and every criterion is met";
}
