// `tutti goals`: lists the goals, newest first: how each stands and why.
import type { Host } from "../../host/host.ts";
import type { ListedGoal } from "../../protocol/api/goal-shapes.ts";
import { withReader } from "../connect.ts";
import { goalStatusText } from "../terminal/goal-status.ts";
import { standardOutput, writeJson, writeLine } from "../terminal/screen.ts";
import { shorten } from "../terminal/fit.ts";
import { printableName } from "../terminal/printable.ts";
import { bold, dim } from "../terminal/style.ts";
import { writeTable } from "../terminal/table.ts";
import { age } from "../terminal/units.ts";
import { wrapped } from "../terminal/wrap.ts";

export interface GoalsOptions {
  readonly state?: string;
  readonly json?: boolean;
  readonly limit: number;
}

const largestPage = 100;

export async function goalsCommand(host: Host, options: GoalsOptions): Promise<void> {
  await withReader(host, options, async (reader) => {
    const goals: ListedGoal[] = [];
    let cursor: string | undefined;
    while (goals.length < options.limit) {
      const limit = Math.min(largestPage, options.limit - goals.length);
      const page = await reader.goals({ limit, ...(cursor === undefined ? {} : { cursor }) });
      goals.push(...page.goals);
      if (page.next === null) break;
      cursor = page.next;
    }
    if (options.json === true) return writeJson(goals);
    if (goals.length === 0) return writeLine('no goals yet; hand one over with `tutti run "what you want"`');
    await (standardOutput.isTerminal ? writeBlocks(goals) : writeLines(goals));
  });
}

async function writeBlocks(goals: readonly ListedGoal[]): Promise<void> {
  const { columns } = standardOutput;
  for (const { goal, status, reason, text, created_at } of goals) {
    const why = reason === "" || status === "done" ? "" : `: ${printableName(reason)}`;
    const head = `${bold(goal)}  ${goalStatusText(status)}${why}  ${dim(age(Date.now() - created_at))}`;
    await writeLine(wrapped(head, { width: columns, hang: 4 }));
    await writeLine(`    ${shorten(printableName(text.replaceAll(/\s+/g, " ")), columns - 5)}`);
  }
}

async function writeLines(goals: readonly ListedGoal[]): Promise<void> {
  await writeTable(
    goals.map(({ goal, status, reason, text, created_at }) => ({
      cells: [goal, goalStatusText(status), age(Date.now() - created_at), text.replaceAll(/\s+/g, " "), reason],
    })),
  );
}
