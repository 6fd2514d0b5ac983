// Handles a fence in a reply: blocks that run, blocks that are quoted, and fences of other languages.
import { closeForeign, openerAt, openForeign, runEnd } from "./fences.ts";
import { addFault, newFindings } from "./findings.ts";
import { type Block, readBlock } from "./read-block.ts";
import { goOn, type ReplyScan } from "./reply-scan.ts";
import { show, visibleLineStart } from "./visible-text.ts";
import { skipSpace } from "../white-space.ts";

export function readFence(scan: ReplyScan, fence: number): void {
  const { text, rules, foreign } = scan;
  const past = runEnd(text, fence);
  const lineStart = visibleLineStart(scan.visible, fence);
  if (lineStart === -1) {
    noteFalseOpener(scan, fence, past);
    scan.at = past;
    return;
  }
  const lineEnd = scan.nextLineBreak(fence);
  const opener = openerAt(text, fence, lineEnd, rules.dialect);
  if (opener !== undefined) {
    const bodyStart = Math.min(lineEnd + 1, text.length);
    const { bodyEnd, ended, next } = scan.endOfBlock(bodyStart, opener.marker);
    const block = { opener, openerAt: fence, bodyStart, bodyEnd, ended };
    if (foreign.open.length === 0) readLiveBlock(scan, block, { lineStart, next });
    else readQuotedBlock(scan, block, next);
    return;
  }
  if (rules.dialect.tracksForeignFences) followForeign(scan, { fence, past, lineEnd });
  scan.at = past;
}

function readLiveBlock(scan: ReplyScan, block: Block, { lineStart, next }: { lineStart: number; next: number }): void {
  const { as } = readBlock(scan.text, block, scan.rules);
  if (as === "call") {
    show(scan.visible, lineStart);
    goOn(scan, next, true);
  } else passData(scan, block, { as, next });
}

/** Stays in the prose, with the fence that quotes it. */
function readQuotedBlock(scan: ReplyScan, block: Block, next: number): void {
  const apart = newFindings();
  const { as } = readBlock(scan.text, block, { ...scan.rules, findings: apart });
  if (as !== "call") {
    passData(scan, block, { as, next });
    return;
  }
  addFault(scan.findings, { code: "quoted_call", at: block.openerAt });
  for (const { name, args } of apart.calls) scan.quoted.push({ name, args });
  scan.at = next;
}

/** A json fence without a call is prose. It is skipped whole if it holds JSON, and else treated as any other fence. */
function passData(
  scan: ReplyScan,
  { opener, openerAt: at, ended }: Block,
  to: { as: "data" | "broken"; next: number },
): void {
  if (to.as === "data" && ended === "closed") scan.at = to.next;
  else {
    openForeign(scan.foreign, opener.marker.charCodeAt(0), opener.marker.length);
    scan.at = at + opener.marker.length;
  }
}

interface FenceLine {
  readonly fence: number;
  readonly past: number;
  readonly lineEnd: number;
}

function followForeign(scan: ReplyScan, { fence, past, lineEnd }: FenceLine): void {
  const { text, foreign } = scan;
  const code = text.charCodeAt(fence);
  const angle = scan.nextAngle(fence);
  const infoEnd = angle < lineEnd && scan.readTag(scan.text, angle) !== undefined ? angle : lineEnd;
  if (skipSpace(text, past, infoEnd) >= infoEnd) {
    if (foreign.open.length === 0) scan.bareFence = !scan.bareFence;
    closeForeign(foreign, code, past - fence);
    return;
  }
  noteFalseOpener(scan, fence, past);
  // A backtick later on the line makes it inline code.
  const backtick = code === 0x60 ? text.indexOf("`", past) : -1;
  if (backtick === -1 || backtick >= infoEnd) openForeign(foreign, code, past - fence);
}

/** A line that looks like an opener but opens nothing is a call that went wrong. Each line is reported once. */
function noteFalseOpener(scan: ReplyScan, fence: number, past: number): void {
  if (!scan.rules.dialect.tracksForeignFences || scan.foreign.open.length > 0 || fence < scan.reportedUpTo) return;
  if (scan.text.slice(past, past + 4).toLowerCase() !== "tool") return;
  scan.reportedUpTo = scan.nextLineBreak(fence);
  addFault(scan.findings, { code: "not_an_opener", at: fence });
}
