// The message that tells a model the outcome of a call it made.

import { thrownMessage, TuttiError } from "../../protocol/error.ts";
import { describeIssues, type ReadIssue } from "../../protocol/lenient-read.ts";
import type { Message, ToolCall } from "../../protocol/task/message.ts";

/** Text stays text and everything else becomes data; a call that returned nothing has the result null. */
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

export function toolFailure(call: ToolCall, code: string, message: string, more: object = {}): Message {
  return toolMessage(call, { error: { code, message }, ...more });
}

/** Failures a model can react to. Every other failure ends the loop: a cancel, a stop, a failed store, a bug of ours. */
const codesForModel: ReadonlySet<string> = new Set([
  "step_failed",
  "outcome_unknown",
  "invalid_input",
  "not_found",
  "refused",
  "expired",
  "deadline",
  "over_budget",
]);

/** The failure as a result of the call, with `more` beside it; undefined when it is not for the model. */
export function failureMessage(call: ToolCall, thrown: unknown, more: object = {}): Message | undefined {
  if (!(thrown instanceof TuttiError) || !codesForModel.has(thrown.code)) return undefined;
  const cause = thrown.code === "step_failed" ? thrown.details?.["code"] : undefined;
  return toolFailure(call, typeof cause === "string" ? cause : thrown.code, thrown.message, more);
}

/** Why arguments were not accepted. Arguments that came as text are not JSON, so the message says where the JSON breaks. */
export function describeBadArguments(input: unknown, issues: readonly ReadIssue[]): string {
  if (typeof input !== "string") return `the arguments do not fit: ${describeIssues(issues)}`;
  return `the arguments are not a JSON object: ${jsonFault(input)}; they were: ${JSON.stringify(input.slice(0, 200))}`;
}

function jsonFault(text: string): string {
  try {
    JSON.parse(text);
    return "they are another kind of value";
  } catch (thrown) {
    return thrownMessage(thrown);
  }
}
