// What a model is told about the calls of its last reply that did not run.
import { renderToolCall } from "./render-tool-call.ts";
import type { ToolCallError, ToolCallReply, Violation, ViolationKind } from "./tool-call.ts";

export interface FeedbackOptions {
  /** The format the conversation uses; the example is given in it and in no other. */
  readonly format?: "fenced" | "native";
  /** Names of the registered tools, listed when a call named none of them. */
  readonly tools?: readonly string[];
}

/** Violations because of which a call did not run; the others need no feedback. */
const lostCalls: ReadonlySet<ViolationKind> = new Set(["other_dialect", "unregistered_call"]);

export function losesCall(kind: ViolationKind): boolean {
  return lostCalls.has(kind);
}

const maxListed = 8;
const maxTools = 20;

/** Undefined when there is nothing to say. */
export function toolFeedback(
  reply: Pick<ToolCallReply, "calls" | "errors" | "violations">,
  options: FeedbackOptions = {},
): string | undefined {
  const lost = reply.violations.filter(({ kind }) => losesCall(kind));
  const total = reply.errors.length + lost.length;
  if (total === 0) return undefined;
  const format = options.format ?? "fenced";
  const problems = [
    ...reply.errors.slice(0, maxListed).map((error) => describe(error, format)),
    ...lost.slice(0, Math.max(0, maxListed - reply.errors.length)).map(({ message }) => `- ${message}`),
  ];
  if (total > problems.length) problems.push(`- and ${total - problems.length} more`);
  return [
    `Not everything in your last reply could be run:\n${problems.join("\n")}`,
    whatRan(reply.calls.map((call) => call.name)),
    ...toolNames(lost, options.tools),
    howTo(format),
  ].join("\n\n");
}

/** The messages explain the fenced format; in a conversation with native calls only the line and the code are told. */
function describe({ code, message, line, excerpt }: ToolCallError, format: "fenced" | "native"): string {
  const what = format === "fenced" ? message : `a call written into the text did not run (${code}).`;
  return `- Line ${line}: ${what}${excerpt === "" ? "" : ` At: ${JSON.stringify(excerpt)}`}`;
}

function whatRan(names: readonly string[]): string {
  if (names.length === 0) return "No call of that reply ran.";
  const listed = names
    .slice(0, maxTools)
    .map((name) => `\`${name.slice(0, 60)}\``)
    .join(", ");
  const more = names.length > maxTools ? ` and ${names.length - maxTools} more` : "";
  return `These calls of that reply ran all the same, do not repeat them: ${listed}${more}.`;
}

function toolNames(lost: readonly Violation[], tools: readonly string[] | undefined): string[] {
  if (tools === undefined || !lost.some((violation) => violation.kind === "unregistered_call")) return [];
  const listed = tools
    .slice(0, maxTools)
    .map((name) => `\`${name}\``)
    .join(", ");
  return [
    tools.length === 0 ? "There are no tools." : `The tools are: ${listed}${tools.length > maxTools ? ", …" : ""}.`,
  ];
}

function howTo(format: "fenced" | "native"): string {
  if (format === "native") {
    return "Call tools through the function-calling interface of this conversation, with a JSON object as arguments. A call written into the text of a reply does not run.";
  }
  const example = renderToolCall("tool_name", { argument: 'first line\nsecond "line"' });
  return `Send what did not run again, one block per call, in exactly this form:\n\n${example}`;
}
