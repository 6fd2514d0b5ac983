// Lists tasks over as many pages as it takes.
import type { Reader } from "../client/client.ts";
import type { ListedTask } from "../protocol/api/task-shapes.ts";
import type { TaskStatus } from "../protocol/task/task-status.ts";

const largestPage = 200;

export interface ListOptions {
  readonly limit: number;
  /** Every task, not only the root of each tree. */
  readonly all: boolean;
  readonly status?: TaskStatus;
}

/** Newest first. */
export async function listTasks(reader: Reader, { limit, all, status }: ListOptions): Promise<ListedTask[]> {
  const tasks: ListedTask[] = [];
  let cursor: string | undefined;
  while (tasks.length < limit) {
    const page = await reader.tasks({
      limit: Math.min(largestPage, limit - tasks.length),
      roots: !all,
      ...(status === undefined ? {} : { status }),
      ...(cursor === undefined ? {} : { cursor }),
    });
    tasks.push(...page.tasks);
    if (page.next === null) break;
    cursor = page.next;
  }
  return tasks;
}
