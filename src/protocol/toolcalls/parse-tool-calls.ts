// Reads a whole reply in the fenced tool-call format: calls, errors, violations, prose and reasoning.
import { noteOtherDialect } from "./dialects/take-dialect.ts";
import { callsToRun, listViolations, wordErrors } from "./findings.ts";
import { scanReply, type ToolCallOptions } from "./scan-reply.ts";
import type { ParsedToolCall, ToolCallReply } from "./tool-call.ts";
import { joinVisible } from "./visible-text.ts";

export type { ToolCallOptions } from "./scan-reply.ts";

/** Never throws, whatever the text; linear in its length. */
export function parseToolCalls(text: string, options: ToolCallOptions = {}): ToolCallReply {
  // Calls in reasoning are listed. Reasoning inside that reasoning is not looked into, so each text is read twice at most.
  return readReply(text, options, (inner) => readReply(inner, options, () => []).calls);
}

function readReply(
  text: string,
  options: ToolCallOptions,
  callsInside: (reasoning: string) => readonly ParsedToolCall[],
): ToolCallReply {
  const scan = scanReply(text, options, callsInside);
  const { prose, reasoning } = joinVisible(scan.visible);
  const word = scan.rules.dialect.otherWords.find((start) => prose.startsWith(start));
  if (word !== undefined) noteOtherDialect(scan, word);
  return {
    calls: callsToRun(scan.findings),
    errors: wordErrors(text, scan.findings),
    violations: listViolations(scan.findings),
    prose,
    reasoning,
    ignored: scan.ignored,
  };
}
