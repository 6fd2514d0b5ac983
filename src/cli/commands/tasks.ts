// `tutti tasks`: lists the trees, newest first, and what waits for an answer.
import type { Host } from "../../host/host.ts";
import type { ListedTask } from "../../protocol/api/task-shapes.ts";
import { isTerminal } from "../../protocol/task/task-status.ts";
import { withReader } from "../connect.ts";
import { pauseText } from "../pause-notice.ts";
import { listTasks } from "../list-tasks.ts";
import { describeAsk, readOpenAsks } from "../open-asks.ts";
import { cut } from "../terminal/fit.ts";
import { standardOutput, writeLine } from "../terminal/screen.ts";
import { dim } from "../terminal/style.ts";
import { writeTable } from "../terminal/table.ts";
import { markOf } from "../terminal/task-tree.ts";
import { duration } from "../terminal/units.ts";

export interface TasksOptions {
  readonly state?: string;
  readonly json?: boolean;
  readonly limit: number;
  readonly all?: boolean;
}

export async function tasksCommand(host: Host, options: TasksOptions): Promise<void> {
  await withReader(host, options, async (reader) => {
    const tasks = await listTasks(reader, { limit: options.limit, all: options.all === true });
    if (options.json === true) return writeLine(JSON.stringify(tasks));
    if (tasks.length === 0) return writeLine("no tasks yet; start one with `tutti invoke FILE`");
    const now = Date.now();
    await writeTable(
      tasks.map((task) => ({
        mark: markOf(task.status),
        cells: [task.id, task.agent, task.status, `${duration(now - task.created_at)} ago`, timeTaken(task)],
      })),
    );
    const { asks, waits } = await readOpenAsks(reader);
    const lines = [...asks, ...waits].map(
      (open) => `${markOf("input_required")} ${open.id}  ${describeAsk(open)} ${dim(open.task)}`,
    );
    if (tasks.some(isUnfinished) && (await reader.paused())) lines.push(pauseText(options.state));
    if (lines.length > 0) await writeLine(["", ...lines.map(fitted)].join("\n"));
  });
}

function isUnfinished({ status, open = 0 }: ListedTask): boolean {
  return !isTerminal(status) || open > 0;
}

function fitted(line: string): string {
  return standardOutput.isTerminal ? cut(line, standardOutput.columns) : line;
}

function timeTaken({ created_at, ended_at, open = 0 }: ListedTask): string {
  if (ended_at === null) return "";
  return `took ${duration(ended_at - created_at)}${open === 0 ? "" : `, ${open} still to be done`}`;
}
