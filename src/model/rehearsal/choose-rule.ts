// Chooses the rule of a script that answers a request, from the request alone, so that a resumed task gets the same reply.

import { toolResultsName } from "../../core/tool-results-name.ts";
import { type LinearPattern, linearPattern } from "../../linear-pattern.ts";
import { messageText, type CompleteMessage, type Part } from "../../protocol/task/message.ts";
import type { RehearsalRule, RehearsalScript } from "../../protocol/invocation/rehearsal-script.ts";
import type { ModelRequest } from "../../model-port.ts";

export interface ChosenRule {
  readonly rule: RehearsalRule;
  /** The rule's index in the script, for messages about it. */
  readonly index: number;
  readonly quotes: RuleQuotes;
}

/** The texts that the reply of a rule may quote. */
export interface RuleQuotes {
  /** All text since the last reply of any agent. */
  readonly last: string;
  /** The last message of a person or of a calling agent. */
  readonly user: string;
  /** What the pattern of `last` matched: the whole, then its groups. */
  readonly groups: readonly string[];
}

export function chooseRule(
  script: RehearsalScript,
  request: Pick<ModelRequest, "agent" | "messages">,
): ChosenRule | undefined {
  const { agent, messages } = request;
  const used = new Map<number, number>();
  let turn = 0;
  // Only `times` needs to know which rule gave each earlier reply; without it, counting the replies is enough.
  const traced = script.rules.some((rule) => rule.times !== undefined);
  messages.forEach((message, at) => {
    if (message.role !== "assistant" || message.agent_id !== agent) return;
    const chosen = traced ? match(script, { agent, turn, used }, messages.slice(0, at)) : undefined;
    if (chosen !== undefined) used.set(chosen.index, (used.get(chosen.index) ?? 0) + 1);
    turn += 1;
  });
  return match(script, { agent, turn, used }, messages);
}

/** What the conditions of a rule are checked against, beside the texts. */
interface RuleContext {
  readonly agent: string;
  readonly turn: number;
  readonly used: ReadonlyMap<number, number>;
}

function match(
  script: RehearsalScript,
  context: RuleContext,
  messages: readonly CompleteMessage[],
): ChosenRule | undefined {
  const last = textSinceReply(messages);
  const user = messages.findLast((message) => message.role === "user" && message.name !== toolResultsName);
  for (const [index, rule] of script.rules.entries()) {
    if (rule.agent !== undefined && rule.agent !== context.agent) continue;
    if (rule.turn !== undefined && rule.turn !== context.turn) continue;
    if (rule.times !== undefined && (context.used.get(index) ?? 0) >= rule.times) continue;
    const groups = groupsOf(rule.last, last);
    if (groups === undefined) continue;
    return { rule, index, quotes: { last, user: user === undefined ? "" : messageText(user), groups } };
  }
  return undefined;
}

/** Undefined when the text does not match. */
function groupsOf(wanted: RehearsalRule["last"], last: string): readonly string[] | undefined {
  if (wanted === undefined) return [];
  if (typeof wanted === "string") return last.includes(wanted) ? [wanted] : undefined;
  return patternOf(wanted).exec(last);
}

type RulePattern = Exclude<RehearsalRule["last"], string | undefined>;

const patterns = new WeakMap<RulePattern, LinearPattern>();

/** Compiled once. Throws `invalid_input` for a pattern that cannot be matched in linear time. */
export function patternOf(pattern: RulePattern): LinearPattern {
  const known = patterns.get(pattern);
  if (known !== undefined) return known;
  const compiled = linearPattern(pattern.regex, { dotAll: true });
  patterns.set(pattern, compiled);
  return compiled;
}

function textSinceReply(messages: readonly CompleteMessage[]): string {
  const reply = messages.findLastIndex((message) => message.role === "assistant");
  return messages
    .slice(reply + 1)
    .flatMap((message) => message.parts.map(textOf))
    .join("\n");
}

function textOf(part: Part): string {
  if (part.part_type === "text") return part.data;
  if (part.part_type === "tool_result") return part.data.parts.map(textOf).join("\n");
  return JSON.stringify(part.data) ?? "";
}
