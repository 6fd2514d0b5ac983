// Handles a `<` in a reply: reasoning, stray closing tags, and calls in another dialect.
import { addViolation, type Findings, forget } from "./findings.ts";
import type { ReasoningTag } from "./reasoning.ts";
import { goOn, reasoningOf, type ReplyScan, takeBareObject } from "./reply-scan.ts";
import { hide, hideAll, show, visibleLineStart } from "./visible-text.ts";

export function readAngle(scan: ReplyScan, angle: number): void {
  const tag = scan.readTag(scan.text, angle);
  if (tag === undefined) {
    readOtherTag(scan, angle);
    scan.at = angle + 1;
  } else if (tag.form === "close") readOrphanClose(scan, angle, tag);
  else readReasoning(scan, angle, tag);
}

function readOtherTag(scan: ReplyScan, angle: number): void {
  const { otherTags } = scan.rules.dialect;
  if (otherTags === undefined) return;
  otherTags.lastIndex = angle;
  // In backticks it is mentioned, not used.
  if (scan.foreign.open.length > 0 || scan.text[angle - 1] === "`" || !otherTags.test(scan.text)) return;
  noteOtherDialect(scan.findings, scan.text.slice(angle, otherTags.lastIndex));
}

/** Reported once for the whole reply. */
export function noteOtherDialect(findings: Findings, written: string): void {
  if (findings.otherDialect) return;
  findings.otherDialect = true;
  const message = `A call written with \`${written}\` did not run: that is not the format in use here.`;
  addViolation(findings, "other_dialect", message);
}

function readReasoning(scan: ReplyScan, angle: number, tag: ReasoningTag): void {
  const { text, visible, findings } = scan;
  const lineStart = visibleLineStart(visible, angle);
  const opensLine = lineStart !== -1;
  const span = tag.form === "empty" ? { innerEnd: tag.end, end: tag.end } : reasoningOf(scan).spanOf(angle, tag);
  if (span === undefined && !opensLine) {
    scan.at = tag.end;
    return;
  }
  show(visible, opensLine ? lineStart : angle);
  hide(visible, tag.end, span?.innerEnd ?? text.length);
  const end = span?.end ?? text.length;
  for (const call of reasoningOf(scan).ignoredIn(angle, end)) scan.ignored.push(call);
  if (span === undefined) {
    const message = `A <${tag.name}> tag is never closed; everything after it counts as reasoning.`;
    addViolation(findings, "unclosed_reasoning", message);
  }
  goOn(scan, end, opensLine);
  takeBareObject(scan);
}

/** Some chat templates drop the opening tag; then everything before the closing tag is reasoning. */
function readOrphanClose(scan: ReplyScan, angle: number, tag: ReasoningTag): void {
  const { visible, findings, foreign } = scan;
  if (findings.complete) {
    addViolation(findings, "orphan_reasoning_close", `A </${tag.name}> tag closes nothing; it was read as text.`);
    scan.at = tag.end;
    return;
  }
  hideAll(visible, angle, tag.end);
  forget(findings);
  foreign.open.length = 0;
  for (const call of scan.quoted) scan.ignored.push(call);
  scan.quoted = [];
  goOn(scan, tag.end, true);
  takeBareObject(scan);
}
