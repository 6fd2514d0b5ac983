// The state of one pass over a reply: its position, its findings, and the searches its parts share.
import { blockEnds, type BlockEnds, type Finder, finder, type ForeignFences, markersIn, nearest } from "./fences.ts";
import { type Findings, newFindings } from "./findings.ts";
import { dialectText, type DialectText, type ToolSchemas } from "./dialects/dialect-reading.ts";
import { type LineQuote, newLineQuote } from "./dialects/line-quote.ts";
import type { BlockRules } from "./read-block.ts";
import { type ReasoningScan, reasoningScan, tagReader } from "./reasoning.ts";
import type { ParsedToolCall } from "./tool-call.ts";
import { newVisibleText, resume, type VisibleText } from "./visible-text.ts";
import { skipSpace, trimmedEnd } from "../white-space.ts";

export interface ReplyScan {
  readonly text: string;
  readonly rules: BlockRules & { readonly findings: Findings };
  readonly findings: Findings;
  readonly visible: VisibleText;
  readonly foreign: ForeignFences;
  /** Calls inside reasoning. */
  readonly ignored: Omit<ParsedToolCall, "id">[];
  /** Calls in quoted blocks, which become ignored calls if the text around them turns out to be reasoning. */
  quoted: Omit<ParsedToolCall, "id">[];
  at: number;
  /** Lines that only look like an opener have been reported up to here. */
  reportedUpTo: number;
  bareTries: number;
  listTries: number;
  /** A part of the reply was reasoning, and it has ended. */
  reasoned: boolean;
  /** A fence without an info string is open. It closes nothing, and quotes what the dialects of models write. */
  bareFence: boolean;
  /** The fence markers the text holds. */
  readonly markers: readonly string[];
  readonly nextFence: Finder;
  readonly nextAngle: Finder;
  /** Where a call may begin with a bracket; undefined if none does. */
  readonly nextBracket: Finder | undefined;
  readonly nextLineBreak: Finder;
  readonly endOfBlock: BlockEnds;
  readonly readTag: ReturnType<typeof tagReader>;
  /** Made when the first tag is met; most replies hold none. */
  reasoning: ReasoningScan | undefined;
  readonly schemas: ToolSchemas | undefined;
  /** Made when the first token of a dialect is met. */
  dialects: DialectText | undefined;
  lineQuote: LineQuote | undefined;
  /** The calls in a text that turned out to be reasoning. */
  readonly callsInside: (reasoning: string) => readonly ParsedToolCall[];
}

export interface ScanSettings {
  readonly schemas: ToolSchemas | undefined;
  readonly callsInside: ReplyScan["callsInside"];
}

export function newReplyScan(text: string, blockRules: BlockRules, { schemas, callsInside }: ScanSettings): ReplyScan {
  const findings = newFindings();
  const { dialect, tools, cut } = blockRules;
  const rules = { dialect, tools, cut, findings };
  const markers = markersIn(text, dialect);
  return {
    text,
    rules,
    findings,
    visible: newVisibleText(text),
    foreign: { open: [] },
    ignored: [],
    quoted: [],
    at: 0,
    reportedUpTo: -1,
    bareTries: 0,
    listTries: 0,
    reasoned: false,
    bareFence: false,
    markers,
    nextFence: nearest(text, markers),
    nextAngle: finder(text, "<"),
    nextBracket: bracketFinder(text, rules),
    nextLineBreak: finder(text, "\n"),
    endOfBlock: blockEnds(text, dialect, markers),
    readTag: tagReader(dialect),
    reasoning: undefined,
    schemas,
    dialects: undefined,
    lineQuote: undefined,
    callsInside,
  };
}

/** Mistral's token for calls, and the one for reasoning. */
const mistralTokens: readonly string[] = ["[TOOL_CALLS]", "[THINK]"];

/** Calls that begin with a bracket begin or end a reply, so most replies need not be searched for them. */
function bracketFinder(text: string, { dialect, tools, cut }: BlockRules): Finder | undefined {
  if (!dialect.allows.modelDialects) return undefined;
  const begins = text.startsWith("[T", skipSpace(text, 0, text.length));
  const last = text.charAt(trimmedEnd(text, 0, text.length) - 1);
  if (!begins && !cut && !"]}>".includes(last)) return undefined;
  // A list of calls as in Python could be prose, so it counts only where the tools are known.
  return nearest(text, tools === undefined || tools.size === 0 ? mistralTokens : [...mistralTokens, "\n["]);
}

/** Undefined if the profile reads no dialects of models. */
export function dialectsOf(scan: ReplyScan): DialectText | undefined {
  const { text, rules, schemas } = scan;
  if (!rules.dialect.allows.modelDialects) return undefined;
  scan.dialects ??= dialectText(text, { rules, schemas, cut: rules.cut });
  return scan.dialects;
}

export function lineQuoteOf(scan: ReplyScan): LineQuote {
  scan.lineQuote ??= newLineQuote();
  return scan.lineQuote;
}

export function reasoningOf(scan: ReplyScan): ReasoningScan {
  scan.reasoning ??= reasoningScan(scan.text, scan.rules, scan.markers);
  return scan.reasoning;
}

export function goOn(scan: ReplyScan, from: number, lineBlank: boolean): void {
  scan.at = from;
  resume(scan.visible, from, lineBlank);
}
