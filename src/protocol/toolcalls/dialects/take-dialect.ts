// Takes a call in a model's own dialect out of the text of a reply, or leaves it there if it is only mentioned.
import { addViolation, pushViolation } from "../findings.ts";
import { goOn, type ReplyScan } from "../reply-scan.ts";
import { hide, show, visibleLineStart } from "../visible-text.ts";
import type { DialectReading } from "./dialect-reading.ts";
import { addDialectFault, keepDialectCalls } from "./keep-calls.ts";
import { isQuotedAt, passTo } from "./line-quote.ts";
import { dialectTokenAt, readDialectAt } from "./model-dialects.ts";
import { beginsPythonList, readPythonList } from "./read-pythonic.ts";
import { skipSpace } from "../../white-space.ts";

type Outcome = Extract<DialectReading, { as: "calls" | "broken" }>;

/** Whether something was taken at `at`, where a token of a dialect may stand. */
export function takeDialect(scan: ReplyScan, at: number): boolean {
  const { dialects, foreign } = scan;
  if (dialects === undefined || foreign.open.length > 0 || scan.bareFence) return false;
  if (dialectTokenAt(scan.text, at) === undefined || isQuoted(scan, at)) return false;
  const reading = readDialectAt(dialects, at);
  if (reading === undefined) return false;
  if (reading.as === "markup") takeMarkup(scan, at, reading);
  else if (reading.as === "reasoning") takeReasoning(scan, at, reading);
  else return takeCalls(scan, at, reading);
  return true;
}

/** Whether the place is quoted on its line, so that nothing is read there. */
export function isQuoted(scan: ReplyScan, at: number): boolean {
  return isQuotedAt(scan.lineQuote, scan.text, at);
}

function takeMarkup(scan: ReplyScan, at: number, { dialect, end }: { readonly end: number } & DialectReading): void {
  const message = `The tokens of the ${dialect} format are no part of a reply; they were left out.`;
  if (!scan.findings.violations.some((violation) => violation.kind === "dialect_markup")) {
    pushViolation(scan.findings, { kind: "dialect_markup", message, dialect });
  }
  leaveOut(scan, at, end);
}

function takeReasoning(scan: ReplyScan, at: number, reading: Extract<DialectReading, { as: "reasoning" }>): void {
  const { text } = scan;
  show(scan.visible, at);
  hide(scan.visible, reading.from, reading.to);
  for (const { name, args } of scan.callsInside(text.slice(reading.from, reading.to))) {
    scan.ignored.push({ name, args });
  }
  scan.reasoned = true;
  leaveOut(scan, at, reading.end);
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
  passTo(scan.lineQuote, end);
  goOn(scan, end, true);
}

const endTokens =
  /\s*(?:<\|(?:im_end|eot_id|eom_id|eot|endoftext|end|call|user|observation)\|>|<\uff5cend\u2581of\u2581sentence\uff5c>|<\/s>|\[e~\[|<end_of_turn>|<turn\|>)/y;

/** Past the tokens with which templates end a message. */
function pastEndTokens(text: string, at: number): number {
  endTokens.lastIndex = at;
  return endTokens.test(text) ? endTokens.lastIndex : at;
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
  const { text, dialects, rules, foreign, visible, findings } = scan;
  if (dialects === undefined || foreign.open.length > 0 || scan.bareFence || scan.listTries >= maxListTries)
    return false;
  if (!beginsPythonList(text, at, rules)) return false;
  scan.listTries += 1;
  const reading = readPythonList(dialects, at);
  if (reading === undefined || (reading.as !== "calls" && reading.as !== "broken")) return false;
  const end = reading.as === "calls" ? pastEndTokens(text, reading.end) : reading.end;
  const isLast = skipSpace(text, end, text.length) === text.length;
  show(visible, at);
  if (reading.as === "calls" && isLast) keepDialectCalls(findings, reading, rules);
  else {
    // Text stands around a list that is not the end of the reply, or is no list of calls: it is an example.
    const cut = reading.as === "broken" && reading.fault.eof;
    if (visible.any && !cut) return false;
    const fault =
      reading.as === "broken" ? reading.fault : { at: end, detail: "text follows the list of calls", eof: false };
    addDialectFault(findings, { dialect: "pythonic", ...fault, lineAt: at });
  }
  passTo(scan.lineQuote, text.length);
  goOn(scan, text.length, true);
  return true;
}
