// The account of a task for people: what was asked, its tree, the conversation, what it cost, and how it ended.
import { emptyTree, type FoldedTree, foldTree, isSettled } from "../../core/fold-tree.ts";
import { reportLines } from "../../core/render-report.ts";
import type { TaskEvent } from "../../protocol/task/event.ts";
import type { GoalReport } from "../../protocol/task/goal-report.ts";
import type { TaskView } from "../../protocol/task/task-view.ts";
import { driftCounts } from "./drift-text.ts";
import { markdownLines } from "./markdown.ts";
import { describeAsk } from "../open-asks.ts";
import { onlyResult, resultLines, succeeded } from "./result-lines.ts";
import { printable } from "./printable.ts";
import { totalsLine } from "./run-cost.ts";
import { standardOutput, widthOfScreen } from "./screen.ts";
import { bold, dim } from "./style.ts";
import { drawTree, markOf } from "./task-tree.ts";
import { showTranscript, type Transcript } from "./transcript.ts";
import { age } from "./units.ts";
import { resultText } from "./value-text.ts";
import { wrapped } from "./wrap.ts";

type CreatedTask = Extract<TaskEvent, { type: "task.created" }>["data"];

export interface AccountOptions {
  /** Where it is printed: the width of the terminal, or Infinity. */
  readonly width: number;
  readonly now: number;
  /** How many lines of an argument or a result of a tool are shown. */
  readonly maxLines: number;
  /** Of the task of a goal's manager: the words and the report of the goal. */
  readonly goal?: GoalReport | undefined;
  /** A command for the person to type. */
  readonly command: (words: string) => string;
}

/** Of an argument or a result of a tool, unless all of it is wanted. */
const usualLines = 40;

/** For standard output. */
export function outputView({ full }: { readonly full?: boolean }): Pick<AccountOptions, "width" | "maxLines"> {
  return { width: widthOfScreen(standardOutput), maxLines: full === true ? Infinity : usualLines };
}

export function accountOf(task: string, events: readonly TaskEvent[], options: AccountOptions): string {
  const tree = events.reduce(foldTree, emptyTree(task));
  const top = tree.tasks.get(task);
  if (top === undefined) return "";
  const conversation = conversationOf(task, events, { ...options, whole: "below" });
  const sections: [title: string, text: string][] = [
    ["asked", askedText(task, events, options)],
    ["tasks", treeText(tree, options)],
    ["conversation", conversation.text],
    ["form of calls", wrapped(driftCounts(events), { width: options.width })],
    ["open questions", openText(tree, options)],
    ["result", endText(tree, conversation, options)],
    ["next", nextText(tree, options)],
  ];
  const shown = sections.filter(([, text]) => text !== "").map(([title, text]) => `${bold(title)}\n${text}`);
  return [headOf(tree, top, options), ...shown].join("\n\n");
}

export interface Conversation extends Pick<Transcript, "endsWith"> {
  readonly text: string;
}

export interface ConversationOptions extends Pick<AccountOptions, "width" | "maxLines"> {
  /** With the prompts of all tasks, or only of those below the agents that were asked. */
  readonly whole: "all" | "below";
}

/** What agents said and did, with whole messages. */
export function conversationOf(
  task: string,
  events: readonly TaskEvent[],
  { width, maxLines, whole }: ConversationOptions,
): Conversation {
  let text = "";
  const isTerminal = width !== Infinity;
  const screen = { isTerminal, columns: isTerminal ? width : 80, write: (piece: string) => (text += piece) !== "" };
  const created = events.find((event) => event.task === task && event.type === "task.created");
  const isInvocation = created?.type === "task.created" && created.data.runner === "invocation";
  const depth = created?.type === "task.created" ? created.data.depth + Number(isInvocation) : 1;
  const transcript = showTranscript(isInvocation ? task : "", { screen, maxLines, whole, depth });
  const tree = emptyTree(task);
  for (const event of events) transcript.update({ event }, tree);
  transcript.stop();
  return { text: text.trimEnd(), endsWith: (end) => transcript.endsWith(end) };
}

function headOf(tree: FoldedTree, top: TaskView, { width, now }: AccountOptions): string {
  const failed = tree.result !== undefined && !succeeded(tree.result);
  const status = failed && top.status === "completed" ? "failed" : top.status;
  const figures = `${age(now - top.created_at)}; ${totalsLine(tree, now)}`;
  return wrapped(`${markOf(status)} ${bold(top.id)}  ${status}  ${dim(figures)}`, { width, hang: 4 });
}

/** The whole prompts, and who gave them. */
function askedText(task: string, events: readonly TaskEvent[], { width, goal }: AccountOptions): string {
  if (goal !== undefined) return wrapped(printable(goal.text), { width, indent: 2 });
  const agents = new Map<string, string>();
  const lines: string[] = [];
  for (const event of events) {
    if (event.type !== "task.created") continue;
    const { agent, parent, prompt, runner } = event.data;
    agents.set(event.task, agent);
    if (prompt === undefined || (event.task !== task && parent !== task)) continue;
    // Tasks below a task that is no invocation stand in the conversation.
    if (event.task !== task && agents.get(task) !== "invocation") continue;
    const facts = [...(runner === "local" ? [] : [`runner ${runner}`]), ...askedBy(event.data, agents)];
    const more = facts.length === 0 ? "" : ` ${dim(`(${facts.join(", ")})`)}`;
    lines.push(wrapped(`${bold(agent)}${more}`, { width, indent: 2 }));
    lines.push(
      ...(width === Infinity ? [wrapped(prompt, { width, indent: 4 })] : markdownLines(prompt, { width, indent: 4 })),
    );
  }
  return lines.join("\n");
}

/** Nothing for an agent that the invocation names: nobody but the caller asked it. */
function askedBy({ depth, parent }: CreatedTask, agents: ReadonlyMap<string, string>): string[] {
  return depth <= 1 || parent === null ? [] : [`asked by ${agents.get(parent) ?? parent}`];
}

function treeText(tree: FoldedTree, { width, now }: AccountOptions): string {
  return drawTree([...tree.tasks.values()], { now })
    .map((line) => wrapped(line, { width, indent: 2, hang: 6 }))
    .join("\n");
}

function openText(tree: FoldedTree, { width, command }: AccountOptions): string {
  return [...tree.open.values()]
    .flatMap((open) => [
      wrapped(`${markOf("input_required")} ${describeAsk(open)}`, { width, indent: 2, hang: 2 }),
      wrapped(dim(`answer it with \`${command(`answer ${open.id} …`)}\``), { width, indent: 4 }),
    ])
    .join("\n");
}

function endText(tree: FoldedTree, conversation: Conversation, { width, goal }: AccountOptions): string {
  const { result } = tree;
  if (result === undefined) return "";
  if (goal !== undefined) {
    return reportLines(goal)
      .map((line) => wrapped(line, { width, indent: 2, hang: 4 }))
      .join("\n");
  }
  const only = onlyResult(result);
  const text = only === undefined ? "" : resultText(only.content);
  if (only?.status === "completed" && conversation.endsWith(text))
    return `  ${markOf("completed")} the last message above`;
  if (only?.status === "completed" && typeof only.content === "string" && width !== Infinity) {
    return markdownLines(text, { width, indent: 2 }).join("\n");
  }
  if (tree.tasks.get(tree.task)?.runner === "invocation") {
    return resultLines(tree, result)
      .map((line) => wrapped(line, { width, indent: 2, hang: 2 }))
      .join("\n");
  }
  return wrapped(resultText(result.content, { indent: 2 }), { width, indent: 2 });
}

function nextText(tree: FoldedTree, { width, command, goal }: AccountOptions): string {
  const { task } = tree;
  const isRoot = tree.tasks.get(task)?.parent === null;
  const lines = isSettled(tree)
    ? [
        ...(goal === undefined ? [] : goalSteps(goal, command)),
        ...(isRoot ? [`${command(`retry ${task}`)}  does it again`] : []),
        `${command(`logs ${task}`)}  has every event`,
      ]
    : [`${command(`attach ${task}`)}  follows it`, `${command(`cancel ${task}`)}  ends it`];
  return lines.map((line) => wrapped(line, { width, indent: 2, hang: 2 })).join("\n");
}

/** What a person does with the work of a goal. */
function goalSteps({ goal, integration }: GoalReport, command: AccountOptions["command"]): string[] {
  const work = [
    `${command(`diff ${goal}`)}  shows the work`,
    `${command(`merge ${goal} BRANCH`)}  takes it into a branch of yours`,
  ];
  return [
    ...(typeof integration?.branch === "string" ? work : []),
    `${command(`report ${goal}`)}  has the proof of everything, as Markdown`,
  ];
}
