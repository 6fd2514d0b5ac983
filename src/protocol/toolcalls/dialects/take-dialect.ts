// Takes a call in a model's own dialect out of the text of a reply, or leaves it there if it is only mentioned.
import { addViolation, pushViolation } from "../findings.ts";
import { dialectsOf, goOn, lineQuoteOf, type ReplyScan } from "../reply-scan.ts";
import { hide, show, visibleLineStart } from "../visible-text.ts";
import type { ModelDialect } from "../tool-call.ts";
import type { DialectReading } from "./dialect-reading.ts";
import { addDialectFault, keepDialectCalls } from "./keep-calls.ts";
import { isQuotedAt, passTo } from "./line-quote.ts";
import { dialectTokenAt, readDialectAt } from "./model-dialects.ts";
import { beginsPythonList, readPythonList } from "./read-pythonic.ts";
import { skipSpace } from "../../white-space.ts";

type Outcome = Extract<DialectReading, { as: "calls" | "broken" }>;

/** Whether something was taken at `at`, where a token of a dialect may stand. */
export function takeDialect(scan: ReplyScan, at: number): boolean {
  if (scan.foreign.open.length > 0 || scan.bareFence) return false;
  if (dialectTokenAt(scan.text, at) === undefined || isQuoted(scan, at)) return false;
  const dialects = dialectsOf(scan);
  const reading = dialects === undefined ? undefined : readDialectAt(dialects, at);
  if (reading === undefined) return false;
  if (reading.as === "markup") takeMarkup(scan, at, reading);
  else if (reading.as === "reasoning") takeReasoning(scan, at, reading);
  else return takeCalls(scan, at, reading);
  return true;
}

/** Whether the place is quoted on its line, so that nothing is read there. */
export function isQuoted(scan: ReplyScan, at: number): boolean {
  return isQuotedAt(lineQuoteOf(scan), scan.text, at);
}

function takeMarkup(scan: ReplyScan, at: number, { dialect, end }: Extract<DialectReading, { as: "markup" }>): void {
  noteMarkup(scan, dialect);
  leaveOut(scan, at, end);
}

function takeReasoning(scan: ReplyScan, at: number, reading: Extract<DialectReading, { as: "reasoning" }>): void {
  const { from, to, end } = reading;
  noteMarkup(scan, reading.dialect);
  show(scan.visible, at);
  hide(scan.visible, from, to);
  for (const { name, args } of scan.callsInside(scan.text.slice(from, to))) scan.ignored.push({ name, args });
  scan.reasoned = true;
  leaveOut(scan, at, end);
}

/** Reported once for the whole reply. */
function noteMarkup({ findings }: ReplyScan, dialect: ModelDialect): void {
  if (findings.dialectMarkup) return;
  findings.dialectMarkup = true;
  const message = `The tokens of the ${dialect} format are no part of a reply; they were left out.`;
  pushViolation(findings, { kind: "dialect_markup", message, dialect });
}

/** A call that stands in the middle of a line of text is an example. */
function takeCalls(scan: ReplyScan, at: number, reading: Outcome): boolean {
  const { text, visible, findings } = scan;
  const isWhole = reading.as === "calls";
  const end = isWhole ? pastEndTokens(text, reading.end) : reading.end;
  const before = visibleLineStart(visible, at) === -1;
  const cut = !isWhole && reading.fault.eof;
  if (before && !cut && textFollows(text, end) && scan.nextLineBreak(at) >= end) {
    noteMention(scan, at);
    scan.at = end;
    return true;
  }
  if (isWhole) keepDialectCalls(findings, reading, scan.rules);
  else addDialectFault(findings, { dialect: reading.dialect, ...reading.fault, lineAt: at });
  leaveOut(scan, at, end);
  return true;
}

/** Calls in text that is no call are told to the model once for the whole reply. */
function noteMention(scan: ReplyScan, at: number): void {
  noteOtherDialect(scan, dialectTokenAt(scan.text, at) ?? "");
}

export function noteOtherDialect({ findings }: Pick<ReplyScan, "findings">, written: string): void {
  if (findings.otherDialect) return;
  findings.otherDialect = true;
  const message = `A call written with \`${written}\` did not run: that is not the format in use here.`;
  addViolation(findings, "other_dialect", message);
}

function leaveOut(scan: ReplyScan, at: number, end: number): void {
  const lineStart = visibleLineStart(scan.visible, at);
  show(scan.visible, lineStart === -1 ? at : lineStart);
  passTo(lineQuoteOf(scan), end);
  goOn(scan, end, true);
}

const endTokens =
  /\s*(?:<\|(?:im_end|eot_id|eom_id|eot|endoftext|end|call|user|observation)\|>|<\uff5cend\u2581of\u2581sentence\uff5c>|<\/s>|\[e~\[|<end_of_turn>|<turn\|>)/y;

/** Past the tokens with which templates end a message. */
function pastEndTokens(text: string, at: number): number {
  endTokens.lastIndex = at;
  return endTokens.test(text) ? endTokens.lastIndex : at;
}

function hasProse({ text, visible }: ReplyScan, at: number): boolean {
  return visible.any || skipSpace(text, visible.runStart, at) < at;
}

/** Whether text other than a further call follows on the same line. */
function textFollows(text: string, at: number): boolean {
  let next = at;
  while (text[next] === " " || text[next] === "\t" || text[next] === "\r") next += 1;
  if (next >= text.length || text[next] === "\n") return false;
  return dialectTokenAt(text, next) === undefined;
}

/** Each try reads to the end of the reply, so their number is limited. */
const maxListTries = 4;

/** `at` is where a line begins. A list of calls counts only as the last thing in a reply. */
export function takePythonList(scan: ReplyScan, at: number): boolean {
  const { text, rules, foreign, visible, findings } = scan;
  if (foreign.open.length > 0 || scan.bareFence || scan.listTries >= maxListTries) return false;
  const dialects = beginsPythonList(text, at, rules) ? dialectsOf(scan) : undefined;
  if (dialects === undefined) return false;
  scan.listTries += 1;
  const reading = readPythonList(dialects, at);
  if (reading.as !== "calls" && reading.as !== "broken") return false;
  const end = reading.as === "calls" ? pastEndTokens(text, reading.end) : reading.end;
  if (reading.as === "calls" && skipSpace(text, end, text.length) === text.length) {
    keepDialectCalls(findings, reading, rules);
  } else {
    const cut = reading.as === "broken" && reading.fault.eof;
    // With text around it, a list that is not the last thing in a reply is an example, and so is one that is no call.
    if (!cut && (hasProse(scan, at) || (reading.as === "calls" && textFollows(text, end)))) return false;
    const fault = reading.as === "broken" ? reading.fault : { at: end, detail: "text follows the list of calls" };
    addDialectFault(findings, { dialect: "pythonic", at: fault.at, detail: fault.detail, lineAt: at });
  }
  show(visible, at);
  passTo(lineQuoteOf(scan), text.length);
  goOn(scan, text.length, true);
  return true;
}
