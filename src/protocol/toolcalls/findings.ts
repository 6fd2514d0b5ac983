// Collects calls, faults and violations while a reply is scanned, and turns the faults into errors with line numbers.
import type {
  JsonObject,
  ParsedToolCall,
  ToolCallError,
  ToolCallErrorCode,
  Violation,
  ViolationKind,
} from "./tool-call.ts";

export interface Fault {
  readonly code: ToolCallErrorCode;
  /** Where the fault is. */
  readonly at: number;
  /** Where the line number of the error is taken from, if not from `at`: the opener of the block. */
  readonly lineAt?: number;
  readonly detail?: string;
}

export interface Findings {
  readonly calls: ParsedToolCall[];
  readonly faults: Fault[];
  readonly violations: Violation[];
  /** Faults and violations past the limit, which are only counted. */
  droppedFaults: number;
  droppedViolations: number;
  /** A block held at least one complete JSON object. */
  complete: boolean;
  /** A call in another dialect was reported. */
  otherDialect: boolean;
  /** Those of `calls` that came in a model's own dialect. */
  dialectCalls: Set<ParsedToolCall> | undefined;
  /** A call in a model's own dialect could not be read, so none of them runs. */
  dialectBroken: boolean;
  /** Tokens of a chat template were reported. */
  dialectMarkup: boolean;
}

/** A reply of millions of broken blocks must not become millions of errors or violations. */
const limit = 10_000;

export function newFindings(): Findings {
  return {
    calls: [],
    faults: [],
    violations: [],
    droppedFaults: 0,
    droppedViolations: 0,
    complete: false,
    otherDialect: false,
    dialectCalls: undefined,
    dialectBroken: false,
    dialectMarkup: false,
  };
}

export function addCall(findings: Findings, name: string, args: JsonObject): void {
  findings.calls.push({ id: `tc_${findings.calls.length}`, name, args });
}

export function addDialectCall(findings: Findings, name: string, args: JsonObject): void {
  const call = { id: `tc_${findings.calls.length}`, name, args };
  findings.calls.push(call);
  (findings.dialectCalls ??= new Set()).add(call);
}

/** The calls that run. If one call in a model's own dialect is cut or broken, no call in such a dialect runs. */
export function callsToRun({ calls, dialectCalls, dialectBroken }: Findings): readonly ParsedToolCall[] {
  if (!dialectBroken || dialectCalls === undefined) return calls;
  return calls.filter((call) => !dialectCalls.has(call)).map((call, index) => ({ ...call, id: `tc_${index}` }));
}

export function addFault(findings: Findings, fault: Fault): void {
  if (findings.faults.length < limit) findings.faults.push(fault);
  else findings.droppedFaults += 1;
}

export function addViolation(findings: Findings, kind: ViolationKind, message: string): void {
  pushViolation(findings, { kind, message });
}

export function pushViolation(findings: Findings, violation: Violation): void {
  if (findings.violations.length < limit) findings.violations.push(violation);
  else findings.droppedViolations += 1;
}

/** Forgets calls, faults and violations: the text they came from turned out to be reasoning. */
export function forget(findings: Findings): void {
  findings.faults.length = 0;
  findings.violations.length = 0;
  findings.droppedFaults = 0;
  findings.droppedViolations = 0;
  findings.otherDialect = false;
  findings.calls.length = 0;
  findings.dialectCalls = undefined;
  findings.dialectBroken = false;
  findings.dialectMarkup = false;
  findings.complete = false;
}

export function wordErrors(text: string, findings: Findings): ToolCallError[] {
  if (findings.faults.length === 0) return [];
  const lines = linesOf(text, findings.faults);
  const errors = findings.faults.map((fault, index): ToolCallError => {
    const line = lines[index] ?? 1;
    return { code: fault.code, message: wording(text, fault, line), line, excerpt: excerptAt(text, fault.at) };
  });
  if (findings.droppedFaults > 0) {
    const message = `${findings.droppedFaults} more faults in this reply are not listed.`;
    errors.push({ code: "too_many_errors", message, line: errors.at(-1)?.line ?? 1, excerpt: "" });
  }
  return errors;
}

export function listViolations({ violations, droppedViolations }: Findings): Violation[] {
  if (droppedViolations === 0) return violations;
  const message = `${droppedViolations} more violations in this reply are not listed.`;
  return [...violations, { kind: "too_many_violations", message }];
}

/** Line numbers of all faults in one pass over the text. */
function linesOf(text: string, faults: readonly Fault[]): number[] {
  const places = faults.map((fault, index) => ({ at: fault.lineAt ?? fault.at, index }));
  places.sort((a, b) => a.at - b.at);
  const lines: number[] = Array.from({ length: faults.length }, () => 1);
  let line = 1;
  let lineBreak = text.indexOf("\n");
  for (const { at, index } of places) {
    while (lineBreak !== -1 && lineBreak < at) {
      line += 1;
      lineBreak = text.indexOf("\n", lineBreak + 1);
    }
    lines[index] = line;
  }
  return lines;
}

function wording(text: string, { code, at, detail = "" }: Fault, line: number): string {
  switch (code) {
    case "unterminated":
      return `Unterminated tool block opened on line ${line}: ${detail || "it ends before its JSON object does"}. Send the whole call again.`;
    case "expected_single_object":
      return `A tool block must hold exactly one JSON object; ${detail}. Use one block per call.`;
    case "missing_name":
      return "The call is missing a non-empty string `name`.";
    case "args_not_object":
      return `The \`args\` of a call must be a JSON object, or be left out; ${detail}.`;
    case "invalid_json": {
      const column = at - text.lastIndexOf("\n", at - 1);
      return `The call is not valid JSON: ${detail} (line ${line}, column ${at === 0 ? 1 : column}). Inside a JSON string write a line break as \\n, a quote as \\" and a backslash as \\\\.`;
    }
    case "inexact_integer":
      return `The call holds the integer ${detail}, which cannot be held exactly. Pass it as a string.`;
    case "inline_args":
      return `The call has ${detail} beside its name. Arguments go inside the \`args\` object.`;
    case "quoted_call":
      return `The tool block on line ${line} stands inside another fenced block that is still open, so it counts as a quotation. To make the call, close the outer fence first.`;
    case "not_an_opener":
      return `Line ${line} looks like the start of a tool block but is not one: the opener must be exactly \`\`\`tool, alone on its line.`;
    case "cut_call":
      return `The reply was cut off in the call begun on line ${line}, which may be incomplete. Send the whole call again.`;
    case "broken_dialect_call":
      return `The call on line ${line} could not be read: ${detail}. No call of this reply in that form ran.`;
    case "too_many_errors":
      return detail;
  }
}

const excerptBefore = 24;
const excerptLength = 80;

/** Up to 80 code units around a position, without half of a surrogate pair at either end. */
function excerptAt(text: string, at: number): string {
  const to = Math.min(text.length, Math.max(at - excerptBefore, 0) + excerptLength);
  const from = Math.max(0, Math.min(at - excerptBefore, to - excerptLength));
  const begin = from > 0 && isLow(text.charCodeAt(from)) ? from + 1 : from;
  const end = to < text.length && isLow(text.charCodeAt(to)) ? to - 1 : to;
  return `${from > 0 ? "…" : ""}${text.slice(begin, end)}${to < text.length ? "…" : ""}`;
}

function isLow(code: number): boolean {
  return code >= 0xdc00 && code <= 0xdfff;
}
