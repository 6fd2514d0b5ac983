// The message that tells a model what became of a call it made.

import { TuttiError } from "../../protocol/error.ts";
import type { ReadIssue } from "../../protocol/lenient-read.ts";
import type { Message, ToolCall } from "../../protocol/task/message.ts";

/** Text stays text, everything else is data; a call that gave nothing back is told null. */
export function toolMessage(call: ToolCall, outcome: unknown): Message {
  const { tool_call_id, tool_name } = call;
  const part =
    typeof outcome === "string"
      ? { part_type: "text" as const, data: outcome }
      : { part_type: "data" as const, data: outcome ?? null };
  return {
    name: null,
    role: "tool",
    parts: [{ part_type: "tool_result", data: { tool_call_id, tool_name, parts: [part] } }],
  };
}

export function toolFailure(call: ToolCall, code: string, message: string): Message {
  return toolMessage(call, { error: { code, message } });
}

/** What a model can do something about. Everything else ends the loop: a cancel, a stop, a store that failed, a fault of ours. */
const tellable: ReadonlySet<string> = new Set([
  "step_failed",
  "outcome_unknown",
  "invalid_input",
  "not_found",
  "refused",
  "expired",
  "deadline",
  "over_budget",
]);

/** The failure as the model is told it; undefined when it is not for the model. */
export function toldFailure(call: ToolCall, thrown: unknown): Message | undefined {
  if (!(thrown instanceof TuttiError) || !tellable.has(thrown.code)) return undefined;
  const cause = thrown.code === "step_failed" ? thrown.details?.["code"] : undefined;
  return toolFailure(call, typeof cause === "string" ? cause : thrown.code, thrown.message);
}

export function wrongText(issues: readonly ReadIssue[]): string {
  return issues.map(({ path, message }) => (path === "" ? message : `${path}: ${message}`)).join("; ");
}

/** Arguments that came as text are no object because they are not JSON: where it breaks is what helps. */
export function wrongArguments(input: unknown, issues: readonly ReadIssue[]): string {
  if (typeof input !== "string") return `the arguments do not fit: ${wrongText(issues)}`;
  return `the arguments are not a JSON object: ${jsonFault(input)}; they were: ${JSON.stringify(input.slice(0, 200))}`;
}

function jsonFault(text: string): string {
  try {
    JSON.parse(text);
    return "they are another kind of value";
  } catch (thrown) {
    return thrown instanceof Error ? thrown.message : String(thrown);
  }
}
