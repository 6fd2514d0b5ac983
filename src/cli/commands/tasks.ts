// `tutti tasks`: the trees there are, and what is asked.
import type { Reader } from "../../client/client.ts";
import type { Host } from "../../host/host.ts";
import type { ListedTask } from "../../protocol/api/task-shapes.ts";
import type { TaskStatus } from "../../protocol/task/task-status.ts";
import { openLines } from "./asks.ts";
import { writeLine } from "../terminal/output.ts";
import { printable } from "../terminal/printable.ts";
import { withReader } from "../connect.ts";
import { writeTable } from "../terminal/table.ts";
import { duration, markOf } from "../terminal/task-tree.ts";

export interface TasksOptions {
  readonly state?: string;
  readonly json?: boolean;
  readonly limit: number;
  readonly all?: boolean;
}

const largestPage = 200;

export async function tasksCommand(host: Host, options: TasksOptions): Promise<void> {
  await withReader(host, options, async (reader) => {
    const tasks = await listed(reader, { limit: options.limit, below: options.all === true });
    if (options.json === true) return writeLine(JSON.stringify(tasks));
    if (tasks.length === 0) return writeLine("no tasks yet; start one with `tutti invoke FILE`");
    const now = Date.now();
    await writeTable(
      tasks.map((task) => ({
        mark: markOf(task.status),
        cells: [task.id, printable(task.agent), task.status, `${duration(now - task.created_at)} ago`, tookOf(task)],
      })),
    );
    const open = await openLines(reader);
    if (open.length > 0) await writeLine(["", ...open].join("\n"));
  });
}

/** At most `limit`, newest first; `below`: tasks below the roots too. */
export async function listed(
  reader: Reader,
  { limit, below, status }: { readonly limit: number; readonly below: boolean; readonly status?: TaskStatus },
): Promise<ListedTask[]> {
  const tasks: ListedTask[] = [];
  let cursor: string | undefined;
  while (tasks.length < limit) {
    const page = await reader.tasks({
      limit: Math.min(largestPage, limit - tasks.length),
      roots: !below,
      ...(status === undefined ? {} : { status }),
      ...(cursor === undefined ? {} : { cursor }),
    });
    tasks.push(...page.tasks);
    if (page.next === null) break;
    cursor = page.next;
  }
  return tasks;
}

function tookOf({ created_at, ended_at, open = 0 }: ListedTask): string {
  if (ended_at === null) return "";
  return `took ${duration(ended_at - created_at)}${open === 0 ? "" : `, ${open} still to be done`}`;
}
