// The rehearsal model: plays a script through the same port as any other model, and says that it is a rehearsal.

import type { Usage } from "../../protocol/task/budget.ts";
import { thrownMessage, TuttiError } from "../../protocol/error.ts";
import type { CompleteMessage, Message, Part, ToolCall } from "../../protocol/task/message.ts";
import { RehearsalScript, type RehearsalRule } from "../../protocol/invocation/rehearsal-script.ts";
import { renderToolCall } from "../../protocol/toolcalls/render-tool-call.ts";
import { isJsonObject } from "../../protocol/toolcalls/tool-call.ts";
import { describeIssues, issuesOf } from "../../protocol/lenient-read.ts";
import type { Model, ModelReply, ModelRequest } from "../../model-port.ts";
import { chooseRule, patternOf, type ChosenRule, type RuleQuotes } from "./choose-rule.ts";

/** The name of its messages. */
const rehearsalName = "rehearsal";

/** Checks the script; throws `invalid_input` that names the wrong rule. */
export function rehearsalModel(script: unknown): Model {
  const parsed = RehearsalScript.safeParse(script);
  if (!parsed.success) {
    const issues = issuesOf(parsed.error);
    const message = `the rehearsal script cannot be played: ${describeIssues(issues)}`;
    throw new TuttiError("invalid_input", message, { details: { issues } });
  }
  checkPatterns(parsed.data);
  return scriptedModel(parsed.data);
}

function checkPatterns({ rules }: RehearsalScript): void {
  for (const [index, { last }] of rules.entries()) {
    if (typeof last !== "object") continue;
    try {
      patternOf(last);
    } catch (cause) {
      const message = `the rehearsal script cannot be played: rules[${index}].last: ${thrownMessage(cause)}`;
      throw new TuttiError("invalid_input", message, { cause });
    }
  }
}

interface ScriptedReply {
  readonly chosen: ChosenRule | undefined;
  readonly message: Message;
  readonly usage: Usage;
}

function scriptedModel(script: RehearsalScript): Model {
  /** The estimate and the call of a request use the same reply. */
  const replies = new WeakMap<ModelRequest, ScriptedReply>();
  const replyFor = (request: ModelRequest): ScriptedReply => {
    const known = replies.get(request);
    if (known !== undefined) return known;
    const chosen = chooseRule(script, request);
    const message = messageOf(request, chosen);
    const reply = { chosen, message, usage: usageOf(request, message, chosen?.rule.spend) };
    replies.set(request, reply);
    return reply;
  };
  return {
    estimate: (request) => replyFor(request).usage,
    async call(request, { signal, onText }): Promise<ModelReply> {
      const { chosen, message, usage } = replyFor(request);
      if (chosen?.rule.delay_ms !== undefined) await delay(chosen.rule.delay_ms, signal);
      if (chosen?.rule.fail !== undefined) throw scriptedFailure(chosen.rule.fail, chosen.index);
      for (const part of message.parts) if (part.part_type === "text") onText?.(part.data);
      const calls = message.parts.some((part) => part.part_type === "tool_call");
      return { message, usage, finish: chosen?.rule.finish ?? (calls ? "tools" : "stop") };
    },
  };
}

function messageOf(request: ModelRequest, chosen: ChosenRule | undefined): Message {
  const name = rehearsalName;
  const base = { name, role: "assistant" as const, agent_id: request.agent };
  if (chosen === undefined) {
    const text = `(rehearsal) No rule of the script answers ${request.agent} here; a real model would. Nothing was done.`;
    return { ...base, parts: [{ part_type: "text", data: text }] };
  }
  const { rule, quotes } = chosen;
  if (rule.raw !== undefined) return { ...base, parts: [{ part_type: "text", data: rule.raw }] };
  const turn = request.messages.filter((message) => message.role === "assistant").length;
  const calls = callsOf(rule).map((call, index): Part => {
    const data: ToolCall = {
      tool_call_id: `call_${turn}_${index}`,
      tool_name: call.tool,
      input: fillAll(call.args, quotes),
    };
    return { part_type: "tool_call", data };
  });
  const text = rule.say === undefined ? [] : [{ part_type: "text" as const, data: fill(rule.say, quotes) }];
  const parts: Part[] = [...text, ...calls];
  return { ...base, parts: request.format === "fenced" ? [{ part_type: "text", data: fenced(parts) }] : parts };
}

/** The reply in the fenced format. Arguments that are no object are written as they are, so that the parser reports them. */
function fenced(parts: readonly Part[]): string {
  return parts
    .map((part) => {
      if (part.part_type === "text") return part.data;
      if (part.part_type !== "tool_call") return "";
      const { tool_name, input } = part.data;
      if (isJsonObject(input)) return renderToolCall(tool_name, input);
      return `\`\`\`tool\n{"name":${JSON.stringify(tool_name)},"args":${JSON.stringify(input) ?? "null"}}\n\`\`\``;
    })
    .join("\n\n");
}

function callsOf(rule: RehearsalRule): { readonly tool: string; readonly args: unknown }[] {
  return [
    ...(rule.call ?? []).map(({ tool, args }) => ({ tool, args })),
    ...(rule.delegate ?? []).map((args) => ({ tool: "invoke_agent", args })),
    ...(rule.ask === undefined ? [] : [{ tool: "ask", args: rule.ask }]),
    ...(rule.final === undefined ? [] : [{ tool: "final", args: { content: rule.final } }]),
  ];
}

/** Fills the placeholders in every text inside the value. */
function fillAll(value: unknown, quotes: RuleQuotes): unknown {
  if (typeof value === "string") return fill(value, quotes);
  if (Array.isArray(value)) return value.map((item) => fillAll(item, quotes));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, fillAll(item, quotes)]));
}

function fill(text: string, { last, user, groups }: RuleQuotes): string {
  return text.replaceAll(/\{\{(last|user|[0-9])\}\}/g, (_, name: string) => {
    if (name === "last") return last;
    return name === "user" ? user : (groups[Number(name)] ?? "");
  });
}

/** The usage that the script sets; otherwise one token per four characters, free of charge. */
function usageOf(request: ModelRequest, reply: Message, spend: RehearsalRule["spend"]): Usage {
  if (spend !== undefined) {
    return { input_tokens: spend.input, output_tokens: spend.output, money_micro_usd: spend.money_micro_usd };
  }
  const input = request.messages.reduce((sum, message) => sum + lengthOf(message), request.system.length);
  return {
    input_tokens: tokensIn(input),
    output_tokens: tokensIn(JSON.stringify(reply.parts).length),
    money_micro_usd: 0,
  };
}

function tokensIn(characters: number): number {
  return Math.ceil(characters / 4);
}

/** Messages do not change and are in every later request of their conversation, so their lengths are remembered. */
const lengths = new WeakMap<CompleteMessage, number>();

function lengthOf(message: CompleteMessage): number {
  const known = lengths.get(message);
  if (known !== undefined) return known;
  const length = JSON.stringify(message.parts).length;
  lengths.set(message, length);
  return length;
}

function scriptedFailure(fail: NonNullable<RehearsalRule["fail"]>, index: number): TuttiError {
  const message = fail.message ?? `the script says so (rules[${index}])`;
  return new TuttiError(fail.code, message, fail.retry === undefined ? {} : { retry: fail.retry });
}

function delay(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", stop);
      resolve();
    }, ms);
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop, { once: true });
  });
}
