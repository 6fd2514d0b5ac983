// Writes the report of a goal as Markdown for a file and as lines for a terminal.

import type { GoalReport, Proof, ReportedCriterion, ReportedTask } from "../protocol/task/goal-report.ts";
import { escapeControls } from "./escape-controls.ts";
import { escapeInvisible } from "./escape-invisible.ts";
import { chosenText, routeName } from "./route-name.ts";

export interface RenderOptions {
  /** Replaces secrets in a text. */
  readonly redact?: (text: string) => string;
}

/**
 * Texts of people, models and programs are shown so that they can neither form Markdown of their own nor hide anything:
 * outside of code blocks the signs of Markdown are escaped, and a code block ends only where the report ends it.
 */
export function reportMarkdown(report: GoalReport, { redact = same }: RenderOptions = {}): string {
  const text = (given: string): string => inline(redact(given));
  const copied = copiedTasks(report);
  const lines = [
    `# ${statusWord(report)}: ${text(oneLine(report.text))}`,
    "",
    ...(report.rehearsal ? [`> This was ${rehearsalText(report)}.`, ""] : []),
    `- Goal: \`${report.goal}\``,
    `- Status: ${report.status}${report.reason === "" ? "" : ` (${text(oneLine(report.reason))})`}`,
    `- Tasks: ${tasksText(report)}`,
    `- Cost: ${costText(report)}`,
    ...(report.integration === null
      ? []
      : [
          `- Integration: branch ${codeText(report.integration.branch ?? "none")}, commit ${codeText(report.integration.commit)}`,
        ]),
    ...(copied.length === 0
      ? []
      : [
          "- The folder is in no git repository: the work is in a copy, and nothing in the folder has changed. Bring it over with:",
          ...copied.map((task) => `  - ${codeText(applyCommand(task))}`),
        ]),
    "",
    "## Acceptance criteria",
    "",
    ...(report.criteria.length === 0 ? ["No criteria were given, so only the tasks themselves were checked."] : []),
    ...report.criteria.flatMap((criterion) => [
      `- **${criterionWord(criterion)}** ${text(oneLine(criterion.text))}${origin(criterion)}`,
      `  - ${text(oneLine(criterion.reason))}`,
      ...proofLines(criterion.proof, text),
    ]),
    "",
    "## What is not proven",
    "",
    ...(report.not_proven.length === 0
      ? ["Nothing is left open."]
      : report.not_proven.map((missing) => `- ${text(oneLine(missing))}`)),
    "",
    "## Tasks",
    "",
    ...report.tasks.flatMap((task) => taskMarkdown(report, task, { text, redact })),
    ...section(
      "Not carried out",
      report.dropped.map(({ what, reason }) => `${text(what)}: ${text(oneLine(reason))}`),
    ),
    ...section(
      "Notes",
      report.notes.map((note) => text(oneLine(note))),
    ),
  ];
  return `${lines.join("\n").trimEnd()}\n`;
}

function taskMarkdown(report: GoalReport, task: ReportedTask, { text, redact }: Texts): string[] {
  return [
    `### ${text(task.id)}: ${taskWord(task)}`,
    "",
    ...block(redact(task.prompt)),
    "",
    ...(task.reason === "" ? [] : [`- ${text(oneLine(task.reason))}`]),
    ...(task.route === null ? [] : [`- Route: ${text(routeText(task))}`]),
    `- ${attemptsText(task, report)}`,
    ...(task.branch === null ? [] : [`- Branch ${codeText(task.branch)}, ${counted(task.commits, "commit")}`]),
    ...proofLines(task.proof, text, ""),
    ...task.proof.flatMap(({ excerpt }) => (excerpt === "" ? [] : ["", ...block(redact(excerpt))])),
    "",
  ];
}

interface Texts {
  /** Makes a text of others harmless inside of a line. */
  readonly text: (given: string) => string;
  readonly redact: (given: string) => string;
}

/** The same for a terminal, short: no prompts and no output of checks. */
export function reportLines(report: GoalReport, { redact = same }: RenderOptions = {}): string[] {
  const text = (given: string): string => escapeInvisible(redact(oneLine(given)));
  const branch = report.integration?.branch;
  return [
    `${statusWord(report)}: ${text(report.text)}`,
    ...(report.rehearsal ? [`  ${rehearsalText(report)}`] : []),
    ...(report.reason === "" ? [] : [`  ${text(report.reason)}`]),
    "",
    "criteria",
    ...(report.criteria.length === 0 ? ["  none were given, so only the tasks themselves were checked"] : []),
    ...report.criteria.flatMap((criterion) => [
      `  ${criterionWord(criterion)}: ${text(criterion.text)}${origin(criterion)}`,
      ...(criterion.state === "met" && isProven(criterion.proof) ? [] : [`    ${text(criterion.reason)}`]),
      ...criterion.proof.map((proof) => `    ${verdictText(proof.verdict)}: ${text(proof.text)}`),
    ]),
    "",
    "tasks",
    ...(report.tasks.length === 0 ? ["  none were planned"] : []),
    ...report.tasks.flatMap((task) => [
      `  ${text(task.id)}: ${taskWord(task)}${isProvenTask(task) || task.reason === "" ? "" : `: ${text(task.reason)}`}`,
      `    ${[...(task.route === null ? [] : [text(routeText(task))]), attemptsText(task, report)].join("; ")}`,
      ...task.proof.map((proof) => `    ${verdictText(proof.verdict)}: ${text(proof.text)}`),
    ]),
    ...(report.not_proven.length === 0 ? [] : ["", "not proven", ...report.not_proven.map((one) => `  ${text(one)}`)]),
    ...(report.dropped.length === 0
      ? []
      : ["", "not carried out", ...report.dropped.map(({ what, reason }) => `  ${text(what)}: ${text(reason)}`)]),
    ...(report.notes.length === 0 ? [] : ["", "notes", ...report.notes.map((one) => `  ${text(one)}`)]),
    "",
    `${tasksText(report)}, ${costText(report)}`,
    ...(typeof branch === "string" ? [`all of it is on the branch ${text(branch)}`] : []),
    ...takeOver(report),
  ];
}

/** Where the work is when there is no branch of it: in copies of a folder that is in no git repository. */
function takeOver(report: GoalReport): string[] {
  const tasks = copiedTasks(report);
  if (tasks.length === 0) return [];
  return [
    "the folder is in no git repository: the work is in a copy, and nothing in the folder has changed; bring it over with",
    ...tasks.map((task) => `  ${applyCommand(task)}`),
  ];
}

/** The tasks whose work stands in copies, in the order in which it is brought over. */
function copiedTasks({ tasks }: GoalReport): string[] {
  return tasks.flatMap(({ task, state, branch, commits }) =>
    task !== null && state === "verified" && branch === null && commits > 0 ? [task] : [],
  );
}

/** In the folder itself. */
function applyCommand(task: string): string {
  return `tutti diff ${task} | git apply`;
}

/** The reason of what is proven repeats the proof, which stands below it. */
function isProven(proof: readonly Proof[]): boolean {
  return proof.some(({ verdict }) => verdict === "supports");
}

function isProvenTask({ state, proof }: ReportedTask): boolean {
  return state === "verified" && isProven(proof);
}

const same = (text: string): string => text;

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, " ").trim();
}

/** Shows signs of Markdown and of HTML as they are. */
function inline(text: string): string {
  return escapeInvisible(text).replaceAll(/[\\`*_{}[\]<>#|~!]/g, (sign) => `\\${sign}`);
}

/** A text of others as a code span: one line, and no Markdown. */
export function codeText(text: string): string {
  return `\`${escapeInvisible(oneLine(text)).replaceAll("`", "'")}\``;
}

/** A block whose fence is longer than any in the text. */
function block(text: string): string[] {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = "`".repeat(longest + 1);
  return [`${fence}text`, escapeControls(text.trimEnd()), fence];
}

function section(title: string, entries: readonly string[]): string[] {
  return entries.length === 0 ? [] : [`## ${title}`, "", ...entries.map((entry) => `- ${entry}`), ""];
}

function proofLines(proof: readonly Proof[], text: (given: string) => string, indent = "  "): string[] {
  return proof.map((one) => `${indent}- ${verdictText(one.verdict)}: ${text(oneLine(one.text))}`);
}

/** What a fact says about the claim; one that says nothing was just seen. */
export function verdictText(verdict: Proof["verdict"]): string {
  return { supports: "proof", contradicts: "against it", nothing: "seen" }[verdict];
}

/** As a count, since a share of all tasks would say of a goal that was given up that it is complete. */
function tasksText({ tasks }: GoalReport): string {
  const current = tasks.filter(({ state }) => state !== "superseded");
  const verified = current.filter(({ state }) => state === "verified").length;
  return `${verified} of ${counted(current.length, "task")} verified`;
}

export const partlyRehearsed = "a rehearsal in part: some replies came from a script, others from models";

function rehearsalText({ called }: GoalReport): string {
  return called ? partlyRehearsed : "a rehearsal: a script was played, and no model was called";
}

function statusWord({ status }: GoalReport): string {
  const words = {
    pending: "Not begun",
    in_progress: "In progress",
    blocked: "Waits for a person",
    done: "Done",
    failed: "Not reached",
    abandoned: "Given up",
  } as const;
  return words[status];
}

function criterionWord({ state }: ReportedCriterion): string {
  return { open: "not proven", met: "met", unmet: "not met" }[state];
}

function origin({ from, confirmed }: ReportedCriterion): string {
  if (from === "person") return "";
  return confirmed ? " (proposed by the model, confirmed by a person)" : " (proposed by the model, unconfirmed)";
}

function taskWord({ state, replaced_by }: ReportedTask): string {
  if (state === "planned") return replaced_by === null ? "never launched" : `replaced by ${replaced_by}`;
  if (state === "superseded") return `failed, replaced by ${replaced_by ?? "a later task"}`;
  if (state === "unverified") return "not verified";
  return state === "launched" || state === "running" ? "not finished" : state;
}

function routeText({ route, attempts }: ReportedTask): string {
  return route === null ? "" : `${routeName(route)}, ${chosenText(route, attempts)}`;
}

/** Nothing that was counted, where calls have no price, is not a price of nothing. */
function attemptsText({ attempts, tokens, money_micro_usd }: ReportedTask, { unpriced }: GoalReport): string {
  const cost = unpriced && money_micro_usd === 0 ? [] : [dollars(money_micro_usd)];
  return [counted(attempts, "attempt"), `${tokens} tokens`, ...cost].join(", ");
}

function costText({ tokens, money_micro_usd, unpriced }: GoalReport): string {
  const cost = dollars(money_micro_usd);
  if (!unpriced) return `${tokens} tokens, ${cost}`;
  return `${tokens} tokens, ${money_micro_usd === 0 ? "price unknown" : `${cost} and calls whose price is unknown`}`;
}

function dollars(micro: number): string {
  return `$${(micro / 1_000_000).toFixed(micro < 10_000 && micro > 0 ? 6 : 2)}`;
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
