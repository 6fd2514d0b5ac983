// Handles a `<` in a reply: reasoning, stray closing tags, and calls in another dialect.
import { isQuoted, noteOtherDialect, takeDialect } from "./dialects/take-dialect.ts";
import { addViolation, forget } from "./findings.ts";
import type { ReasoningTag } from "./reasoning.ts";
import { goOn, reasoningOf, type ReplyScan } from "./reply-scan.ts";
import { takeBareReply } from "./take-bare-reply.ts";
import { hide, hideAll, show, visibleLineStart } from "./visible-text.ts";
import { skipSpace } from "../white-space.ts";

export function readAngle(scan: ReplyScan, angle: number): void {
  const tag = scan.readTag(scan.text, angle);
  if (tag === undefined) {
    if (!scan.rules.dialect.dialectInitials.includes(scan.text.charAt(angle + 1))) scan.at = angle + 1;
    else if (!takeDialect(scan, angle)) {
      readOtherTag(scan, angle);
      scan.at = angle + 1;
    }
  } else if (tag.form === "close") readOrphanClose(scan, angle, tag);
  else readReasoning(scan, angle, tag);
}

function readOtherTag(scan: ReplyScan, angle: number): void {
  const { otherTags } = scan.rules.dialect;
  if (otherTags === undefined) return;
  otherTags.lastIndex = angle;
  if (scan.foreign.open.length > 0 || !otherTags.test(scan.text)) return;
  const { lastIndex } = otherTags;
  // In a quotation it is mentioned, not used.
  if (!isQuoted(scan, angle)) noteOtherDialect(scan, scan.text.slice(angle, lastIndex));
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
  scan.reasoned = true;
  goOn(scan, end, opensLine);
  takeBareReply(scan);
}

/** Some chat templates open the tag themselves; then everything before the closing tag is reasoning. */
function readOrphanClose(scan: ReplyScan, angle: number, tag: ReasoningTag): void {
  const { visible, findings, foreign } = scan;
  if (findings.complete && !closesLate(scan, angle, tag)) {
    addViolation(findings, "orphan_reasoning_close", `A </${tag.name}> tag closes nothing; it was read as text.`);
    scan.at = tag.end;
    return;
  }
  hideAll(visible, angle, tag.end);
  for (const { name, args } of findings.calls) scan.ignored.push({ name, args });
  const { dialectBroken, dialectMarkup, violations } = findings;
  // What an earlier close reported is kept, too.
  const isReported = violations.some(({ kind, dialect }) => dialect !== undefined || kind === "orphan_reasoning_close");
  const holdsTokens = dialectBroken || dialectMarkup || isReported;
  forget(findings);
  // A call that is hidden in these, or in the arguments of a call among them, cannot be listed.
  if (holdsTokens) {
    const message = `What stands before </${tag.name}> was read as reasoning; it holds tokens of a chat template.`;
    addViolation(findings, "orphan_reasoning_close", message);
  }
  foreign.open.length = 0;
  scan.bareFence = false;
  for (const call of scan.quoted) scan.ignored.push(call);
  scan.quoted = [];
  scan.reasoned = true;
  goOn(scan, tag.end, true);
  takeBareReply(scan);
}

/**
 * Whether a closing tag after a complete call ends reasoning that the chat template opened, so that the call was a draft.
 * It does so only as the first end of reasoning in the reply, outside fences and quotations, and not in the middle of a
 * line of text.
 */
function closesLate(scan: ReplyScan, angle: number, tag: ReasoningTag): boolean {
  const { text, foreign, visible } = scan;
  if (!scan.rules.dialect.allows.lateReasoningClose || scan.reasoned) return false;
  if (foreign.open.length > 0 || scan.bareFence || isQuoted(scan, angle)) return false;
  const opensLine = visibleLineStart(visible, angle) !== -1;
  return opensLine || skipSpace(text, tag.end, scan.nextLineBreak(tag.end)) === scan.nextLineBreak(tag.end);
}
