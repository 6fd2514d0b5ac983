// The tasks whose work an invocation builds on, so that it can be started where that work is.

import { z } from "zod";

import { TaskId } from "../../protocol/ids.ts";
import { parseJson } from "../../protocol/json/parse-json.ts";

const After = z.looseObject({ after: z.array(TaskId) });
const mostTasks = 50;

/** What cannot be read names nobody; whoever starts it says what is wrong. */
export function predecessorsIn(text: string): TaskId[] {
  // Most invocations build on nothing and are not worth being read twice.
  if (!text.includes('"after"')) return [];
  const found = new Set<TaskId>();
  const look = (value: unknown): void => {
    if (typeof value !== "object" || value === null || found.size >= mostTasks) return;
    for (const [name, each] of Object.entries(value)) {
      if (name === "workspace") After.safeParse(each).data?.after.forEach((task) => found.add(task));
      look(each);
    }
  };
  look(parseJson(text));
  return [...found].slice(0, mostTasks);
}
