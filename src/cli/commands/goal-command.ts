// `tutti goal`: shows one goal as it stands: criteria with their proof, tasks with route and evidence, questions and notes.
import type { Host } from "../../host/host.ts";
import { taskOfGoal } from "../../core/goal-id.ts";
import { reportLines } from "../../core/render-report.ts";
import type { GoalReport } from "../../protocol/task/goal-report.ts";
import { commandLine, withReader } from "../connect.ts";
import { findGoal } from "../find-id.ts";
import { note, writeJson, writeLine } from "../terminal/screen.ts";
import { dim } from "../terminal/style.ts";

export interface GoalOptions {
  readonly state?: string;
  readonly json?: boolean;
}

export async function goalCommand(host: Host, given: string, options: GoalOptions): Promise<void> {
  await withReader(host, options, async (reader) => {
    const id = await findGoal(reader, given);
    if (options.json === true) return writeJson(await reader.goal(id));
    const report = await reader.goalReport(id);
    for (const line of reportLines(report)) await writeLine(line);
    await writeSection("notes", report.notes);
    await writeSection("branches", branchLines(report));
    const asks = await reader.asks(taskOfGoal(id));
    await writeSection(
      "questions for you",
      asks.map(({ id: ask, question }) => `${ask}: ${question}`),
    );
    const [first] = asks;
    if (first !== undefined) note(dim(`answer with \`${commandLine(options.state, `answer ${first.id} …`)}\``));
  });
}

function branchLines({ tasks }: GoalReport): string[] {
  return tasks.flatMap(({ id, branch, commits, task }) =>
    branch === null ? [] : [`${id} (${task ?? ""}): ${branch}, ${commits} commit${commits === 1 ? "" : "s"}`],
  );
}

async function writeSection(title: string, entries: readonly string[]): Promise<void> {
  if (entries.length === 0) return;
  await writeLine(`\n${title}`);
  for (const entry of entries) await writeLine(`  ${entry.replaceAll(/\s+/g, " ").trim()}`);
}
