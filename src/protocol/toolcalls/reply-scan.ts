// The state of one pass over a reply: its position, its findings, and the searches its parts share.
import { blockEnds, type BlockEnds, type Finder, finder, type ForeignFences, markersIn, nearest } from "./fences.ts";
import { type Findings, newFindings } from "./findings.ts";
import { readBareCall } from "./read-bare-call.ts";
import type { BlockRules } from "./read-block.ts";
import { type ReasoningScan, reasoningScan, tagReader } from "./reasoning.ts";
import type { ParsedToolCall } from "./tool-call.ts";
import { newVisibleText, resume, show, type VisibleText } from "./visible-text.ts";
import { skipSpace } from "../white-space.ts";

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
  /** The fence markers the text holds. */
  readonly markers: readonly string[];
  readonly nextFence: Finder;
  readonly nextAngle: Finder;
  readonly nextLineBreak: Finder;
  readonly endOfBlock: BlockEnds;
  readonly readTag: ReturnType<typeof tagReader>;
  /** Made when the first tag is met; most replies hold none. */
  reasoning: ReasoningScan | undefined;
}

export function newReplyScan(text: string, blockRules: BlockRules): ReplyScan {
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
    markers,
    nextFence: nearest(text, markers),
    nextAngle: finder(text, "<"),
    nextLineBreak: finder(text, "\n"),
    endOfBlock: blockEnds(text, dialect, markers),
    readTag: tagReader(dialect),
    reasoning: undefined,
  };
}

export function reasoningOf(scan: ReplyScan): ReasoningScan {
  scan.reasoning ??= reasoningScan(scan.text, scan.rules, scan.markers);
  return scan.reasoning;
}

export function goOn(scan: ReplyScan, from: number, lineBlank: boolean): void {
  scan.at = from;
  resume(scan.visible, from, lineBlank);
}

/** Each try reads to the end of the reply, so their number is limited. */
const maxBareTries = 4;

/** A reply that is nothing but one JSON object is taken whole, so that the strings in it stay untouched. */
export function takeBareObject(scan: ReplyScan): void {
  const { text, rules, findings, visible } = scan;
  if (!rules.dialect.allows.bareCall || scan.bareTries >= maxBareTries) return;
  if (visible.any || findings.complete || findings.faults.length > 0) return;
  const start = skipSpace(text, scan.at, text.length);
  if (text.charCodeAt(start) !== 0x7b) return;
  scan.bareTries += 1;
  const reading = readBareCall(text, start, rules);
  if (reading === "not_one_object") return;
  if (reading === "data") show(visible, text.length);
  goOn(scan, text.length, true);
}
