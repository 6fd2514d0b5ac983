// `tutti tasks`: lists the trees, newest first: what was asked of whom, how it stands, how old it is and what it cost.
import type { Reader } from "../../client/client.ts";
import type { Host } from "../../host/host.ts";
import type { ListedTask } from "../../protocol/api/task-shapes.ts";
import { isTerminal } from "../../protocol/task/task-status.ts";
import { commandLine, withReader } from "../connect.ts";
import { pauseText } from "../pause-notice.ts";
import { listTasks } from "../list-tasks.ts";
import { stateFolder } from "../state-folder.ts";
import { shorten } from "../terminal/fit.ts";
import { printableName } from "../terminal/printable.ts";
import { note, standardOutput, writeJson, writeLine } from "../terminal/screen.ts";
import { bold, dim } from "../terminal/style.ts";
import { writeTable } from "../terminal/table.ts";
import { type Circumstances, type OpenQuestion, outcomeOf, type TaskOutcome } from "../terminal/task-outcome.ts";
import { age, counted, money } from "../terminal/units.ts";
import { wrapped } from "../terminal/wrap.ts";

export interface TasksOptions {
  readonly state?: string;
  readonly json?: boolean;
  readonly limit: number;
  readonly all?: boolean;
}

export async function tasksCommand(host: Host, options: TasksOptions): Promise<void> {
  await withReader(host, options, async (reader) => {
    const tasks = await listTasks(reader, { limit: options.limit, all: options.all === true });
    if (options.json === true) return writeJson(tasks);
    if (tasks.length === 0)
      return writeLine(
        "no tasks yet; start one with `tutti run GOAL`, `tutti agents run NAME PROMPT` or `tutti invoke FILE`",
      );
    const questions = await openQuestions(reader);
    const attended = host.remote !== undefined || (await host.findOwner(stateFolder(options.state))) !== undefined;
    const paused = await reader.paused();
    const rows = tasks.map((task) => rowOf(task, { questions: of(task, questions), attended, paused }));
    await (standardOutput.isTerminal ? writeBlocks(rows) : writeLines(rows));
    const listed = new Set(tasks.map(({ root }) => root));
    const elsewhere = questions.filter(({ root }) => !listed.has(root)).length;
    if (elsewhere > 0) {
      note(dim(`${counted(elsewhere, "more question")} of older tasks: \`${commandLine(options.state, "asks")}\``));
    }
    if (paused && tasks.some(isUnfinished)) note(pauseText(options.state));
  });
}

function isUnfinished({ status, open = 0 }: ListedTask): boolean {
  return !isTerminal(status) || open > 0;
}

interface Row {
  readonly id: string;
  readonly outcome: TaskOutcome;
  readonly agents: string;
  readonly prompt: string;
  readonly age: string;
  readonly cost: string;
}

function rowOf(task: ListedTask, circumstances: Circumstances): Row {
  const { agents, targets, prompt } = task.asked;
  const spent = task.tree_money_micro_usd ?? task.money_micro_usd;
  return {
    id: task.id,
    outcome: outcomeOf(task, circumstances),
    // The agent of a goal is always the manager, which says nothing about it.
    agents: task.runner === "manager" ? "goal" : `${agents.join(", ")}${targets > agents.length ? ` ×${targets}` : ""}`,
    prompt: prompt.replaceAll(/\s+/g, " "),
    age: age(Date.now() - task.created_at),
    cost: spent === 0 ? "" : money(spent),
  };
}

/** On a terminal: how it stands, and below it what was asked, cut to one line. */
async function writeBlocks(rows: readonly Row[]): Promise<void> {
  const { columns } = standardOutput;
  for (const { id, outcome, agents, prompt, age: old, cost } of rows) {
    const figures = [old, ...(cost === "" ? [] : [cost])].join(", ");
    const head = `${outcome.mark} ${bold(id)}  ${printableName(outcome.text)}  ${dim(figures)}`;
    await writeLine(wrapped(head, { width: columns, hang: 4 }));
    const asked = [agents, prompt].filter((text) => text !== "").join(": ");
    await writeLine(`    ${shorten(printableName(asked), columns - 5)}`);
  }
}

/** For another program: one line for each task, and nothing is cut. */
async function writeLines(rows: readonly Row[]): Promise<void> {
  await writeTable(
    rows.map(({ id, outcome, agents, prompt, age: old, cost }) => ({
      mark: outcome.mark,
      cells: [id, outcome.text, agents, old, cost, prompt],
    })),
  );
}

interface TreeQuestion extends OpenQuestion {
  readonly task: string;
  readonly root: string;
}

async function openQuestions(reader: Reader): Promise<TreeQuestion[]> {
  const [asks, waits] = [await reader.asks(), await reader.waits()];
  return [
    ...asks.map(({ id, task, root, kind, question }) => ({ id, task, root, kind, text: firstLine(question) })),
    ...waits.map(({ id, task, root, label, call }) => ({
      id,
      task,
      root,
      kind: "tool" as const,
      text: firstLine(call?.tool_name ?? label),
    })),
  ];
}

/** A root speaks for its whole tree. */
function of({ id, parent }: ListedTask, questions: readonly TreeQuestion[]): TreeQuestion[] {
  return questions.filter(({ task, root }) => task === id || (parent === null && root === id));
}

const longestQuestion = 100;

function firstLine(text: string): string {
  return shorten(text.trim().split("\n", 1)[0] ?? "", longestQuestion);
}
