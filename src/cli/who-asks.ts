// Says of a question in a goal whose it is: `fix, of "add adds"`.
import type { Reader } from "../client/client.ts";
import { goalOfTask } from "../core/goal-id.ts";
import type { OpenAsk, OpenWait } from "../protocol/api/task-shapes.ts";
import { TuttiError } from "../protocol/error.ts";
import type { TaskId } from "../protocol/ids.ts";
import { shorten } from "./terminal/fit.ts";

const longestGoal = 60;

/** Undefined for a question of the manager itself, and for one that is in no goal. */
export async function whoAsks(
  reader: Pick<Reader, "task" | "goal" | "tree">,
  { task, root }: OpenAsk | OpenWait,
): Promise<string | undefined> {
  if (task === root) return undefined;
  try {
    if ((await reader.task(root)).runner !== "manager") return undefined;
    const { text, links } = await reader.goal(goalOfTask(root));
    const planned = new Map(links.map((link) => [link.task, link.planned]));
    const parents = new Map((await reader.tree(root)).map(({ id, parent }) => [id, parent]));
    let at: TaskId | null = task;
    while (at !== null && !planned.has(at)) at = parents.get(at) ?? null;
    const name = at === null ? undefined : planned.get(at);
    return name === undefined
      ? undefined
      : `${name}, of "${shorten(text.replaceAll(/\s+/g, " ").trim(), longestGoal)}"`;
  } catch (thrown) {
    // A reader of another version, or a question that is gone: the question itself says enough.
    if (thrown instanceof TuttiError) return undefined;
    throw thrown;
  }
}
