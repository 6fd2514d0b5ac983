// The text of a question on a terminal, and the answer in what the person typed.
import { z } from "zod";

import type { OpenAsk, OpenWait } from "../../protocol/api/task-shapes.ts";
import { AskedWork } from "../../protocol/task/assignment.ts";
import { readWrittenJson } from "../../protocol/json/written-json.ts";
import { commandLine } from "../connect.ts";
import { type Always, alwaysOf, ruleText } from "../give-answer.ts";
import { paintedLine } from "./diff-line.ts";
import { bold, dim } from "./style.ts";
import { printable } from "./printable.ts";
import { readableLines } from "./readable-value.ts";
import { rowsOf } from "./wrap.ts";

export interface QuestionView {
  /** Of the terminal on which it is shown. */
  readonly width?: number | undefined;
  /** `--state` as it was given. */
  readonly state?: string | undefined;
  /** Whose question it is: see `whoAsks`. */
  readonly who?: string | undefined;
}

/** What is asked, and what can be chosen, without the words that ask for an answer. */
export function askedText(ask: OpenAsk | OpenWait, { width = Infinity, state, who }: QuestionView = {}): string {
  const whose = who === undefined ? "" : `${indented(who)}: `;
  if (!("kind" in ask)) return `${whose}${askedOfClient(ask)}`;
  // The question about a call says all of it, unless it says itself that the details have more; one about a budget does, too.
  const isWhole = ask.kind === "approval" && ask.question.includes("\n") && !ask.question.includes("hidden here");
  const work = AskedWork.safeParse(ask.details).data;
  const isSaid = isWhole || ask.kind === "budget" || work !== undefined;
  const details = ask.details === undefined || isSaid ? "" : detailsText(ask.details);
  const [first = "", ...rest] = printable(ask.question).split("\n");
  const head = first.startsWith(whose) ? first : `${whose}${first}`;
  const below = rest.map((line) => `\n  ${ask.kind === "approval" ? approvalLine(line, width - 2) : line}`).join("");
  const look = typeof work?.commit === "string" ? `\n  ${dim(commandLine(state, `diff ${ask.task}`))}` : "";
  const choices = ask.choices === undefined ? "" : `\n  ${dim(choicesText(ask))}`;
  return `${bold(head)}${below}${choices}${details}${look}`;
}

function choicesText({ choices = [], choices_with_words: [first] = [] }: OpenAsk): string {
  const words = first === undefined ? "" : ` (words may follow a colon: \`${indented(first)}: …\`)`;
  return `One of: ${choices.map(indented).join(" | ")}${words}`;
}

/** One name with its value in each line, as people read it, in place of JSON. */
function detailsText(details: unknown): string {
  return readableLines(details)
    .map((line) => `\n  ${dim(indented(line))}`)
    .join("");
}

/** Lines of a diff begin with a sign, which other lines of ours never do. A quoted line begins with spaces and a bar. */
function approvalLine(line: string, width: number): string {
  if (width === Infinity || !/^(?:[+-]| (?! \|))/.test(line)) return paintedLine(line);
  // In the column of the signs, a row in which a line goes on cannot be taken for a line of the file.
  return rowsOf(line, { first: width, later: width - 2, fill: true })
    .map((row, index) => (index === 0 ? paintedLine(row) : paintedLine(`↳ ${row}`, line)))
    .join("\n  ");
}

/** A question comes from models and tools. Without control codes, and with its later lines indented, it cannot imitate our prompt. */
export function questionText(ask: OpenAsk | OpenWait, view?: QuestionView): string {
  return `${askedText(ask, view)}\n${dim(answersText(ask))}\n> `;
}

/** For a second try: the question still stands above. */
export function againText(ask: OpenAsk | OpenWait): string {
  return `${dim(answersText(ask))}\n> `;
}

const Called = z.object({ call: z.object({}) });

/** What can be answered, in plain words. */
function answersText(ask: OpenAsk | OpenWait): string {
  if (!("kind" in ask)) return "The result as JSON or as text:";
  if (ask.kind === "question") return ask.answer_schema === null ? "Your answer:" : "Your answer, as JSON:";
  if (ask.kind === "budget") return "y to go on, n (or Enter) to stop";
  const always = alwaysOf(ask);
  const forGood =
    always === undefined
      ? ""
      : `a to allow it always${always.argv === undefined ? "" : ", a: PATTERN for commands like it"}, `;
  // What is not a call, such as trust in a config, is agreed to once and for all.
  const yes = ask.details === undefined || Called.safeParse(ask.details).success ? "y to allow it once" : "y for yes";
  return `${yes}, ${forGood}n (or Enter) for no, n: REASON to say why`;
}

function askedOfClient({ call, label }: OpenWait): string {
  const wanted = call === undefined ? indented(label) : `Result of ${indented(call.tool_name)}`;
  return call === undefined ? bold(wanted) : `${bold(wanted)}\n  ${dim(json(call.input))}`;
}

/** Shows the rule that an answer of "always" will write, before it is written. */
export function confirmText(always: Always): string {
  return `${ruleText(always)}\n${dim("y to write this rule and allow the call, n (or Enter) to go back")}\n> `;
}

export function isYes(typed: string | undefined): boolean {
  return /^\s*(?:y|yes)\s*$/i.test(typed ?? "");
}

type ParsedAnswer = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly message: string };

/** For a yes-or-no question, only y, yes, n, no and an empty line count, so that a typing mistake decides nothing. */
export function parseAnswer(ask: OpenAsk | OpenWait, typed: string): ParsedAnswer {
  const text = typed.trim();
  if (!("kind" in ask)) return jsonOrText(text);
  if (ask.kind === "question") {
    if (text === "") return { ok: false, message: "an empty line is no answer; it stays open with Ctrl-D" };
    const read: ParsedAnswer = ask.answer_schema === null ? { ok: true, value: text } : jsonOrText(text);
    return read.ok ? { ok: true, value: { kind: "question", value: read.value } } : read;
  }
  const { word, reason = "" } = /^(?<word>y|yes|n|no|)(?:\s*:\s*(?<reason>[^]*))?$/i.exec(text)?.groups ?? {};
  const yes = word?.toLowerCase().startsWith("y") === true;
  if (word === undefined || (reason !== "" && !/^n/i.test(word))) {
    return { ok: false, message: "answer y or n; a reason may follow a no, as in `n: too expensive`" };
  }
  if (ask.kind === "budget") return { ok: true, value: { kind: "budget", go_on: yes } };
  return { ok: true, value: { kind: "approval", approved: yes, ...(reason === "" ? {} : { reason }) } };
}

function indented(text: string): string {
  return printable(text).replaceAll("\n", "\n  ");
}

function json(value: unknown): string {
  return printable(JSON.stringify(value) ?? "");
}

function jsonOrText(text: string): ParsedAnswer {
  const read = readWrittenJson(text);
  if (read.ok) return read;
  return read.isJson ? { ok: false, message: `the answer ${read.problem}` } : { ok: true, value: text };
}
