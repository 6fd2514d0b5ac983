// `tutti report`: prints the report of a goal as Markdown.
import type { Reader } from "../../client/client.ts";
import type { Host } from "../../host/host.ts";
import { taskOfGoal } from "../../core/goal-id.ts";
import { emptyRecord, foldRecord, goalReport } from "../../core/make-report.ts";
import { reportMarkdown } from "../../core/render-report.ts";
import { TuttiError } from "../../protocol/error.ts";
import { GoalId, TaskId } from "../../protocol/ids.ts";
import { allEvents } from "../all-events.ts";
import { withReader } from "../connect.ts";
import { writeJson, writeUnbroken } from "../terminal/screen.ts";

export interface ReportOptions {
  readonly state?: string;
  readonly json?: boolean;
}

/** Reading needs no lock, so the report can be had while the goal is under way. */
export async function reportCommand(host: Host, given: string, options: ReportOptions): Promise<void> {
  await withReader(host, options, async (reader) => {
    const task = await taskMeant(reader, given);
    const record = emptyRecord(task);
    for await (const event of allEvents(reader, task)) foldRecord(record, event);
    const report = goalReport(record);
    if (report === undefined) throw new TuttiError("not_found", `${given} is no goal`);
    await (options.json === true ? writeJson(report) : writeUnbroken(reportMarkdown(report).trimEnd()));
  });
}

async function taskMeant(reader: Reader, given: string): Promise<TaskId> {
  if (given === "last") {
    const [newest] = (await reader.tasks({ runner: "manager", limit: 1 })).tasks;
    if (newest === undefined) throw new TuttiError("not_found", "there is no goal yet; `tutti run` starts one");
    return newest.id;
  }
  const task = GoalId.safeParse(given).success ? taskOfGoal(given) : given;
  if (!TaskId.safeParse(task).success) throw new TuttiError("usage", `${given} is not the id of a goal`);
  return task;
}
