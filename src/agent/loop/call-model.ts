// One call of the model as a step of its own: repeated when nothing happened, shortened when it was too long, recorded whole.

import { z } from "zod";

import { modelWaiting } from "../../core/model-waiting.ts";
import { messageId } from "../../core/message-id.ts";
import { Usage } from "../../protocol/task/budget.ts";
import { TuttiError } from "../../protocol/error.ts";
import { CompleteMessage, messageText } from "../../protocol/task/message.ts";
import type { Durable, RunningStep, Schema } from "../../ports.ts";
import type { Model, ModelCallOptions, ModelReply, ModelRequest, ModelRetry, ModelTool } from "../../model-port.ts";
import type { AgentEnvironment } from "../agent-environment.ts";
import type { FoundAgent } from "../delegation/find-agent.ts";
import { inTree, whenAttended } from "../when-attended.ts";
import { foundTools } from "../tools/deferred-tools.ts";
import type { AgentSetup } from "./agent-setup.ts";
import { compactConversation } from "./compact-conversation.ts";
import { estimateTokens } from "./compaction.ts";
import type { Conversation, ModelChoice } from "./conversation.ts";
import { isPlainMessage } from "./plain-message.ts";
import { readReply } from "./read-reply.ts";
import { type FencedStream, streamFenced } from "./stream-fenced.ts";

/** How often a call is tried that fails with the verdict that nothing happened. */
const maxTries = 3;
const firstPauseMs = 250;

/** `original`: the reply as it was written; absent when the message holds all of it. */
const RecordedReply = z.object({
  message: CompleteMessage,
  usage: Usage,
  finish: z.enum(["stop", "tools", "length", "refusal", "empty"]),
  malformed: z.array(z.object({ tool_name: z.string(), text: z.string(), message: z.string() })).optional(),
  original: z.string().optional(),
  /** The tokens of the request and its reply, when the usage has those of failed tries too. */
  context_tokens: z.int().optional(),
  /** The most tokens that the server has room for, when it said so. */
  context_limit: z.int().optional(),
  /** Set when the reply was cut and is not used: the same request is sent again with this limit. */
  raised_to: z.int().optional(),
  /** Set when the model refused to answer and the next model is asked. */
  passed_on: z.literal(true).optional(),
});
export type RecordedReply = z.infer<typeof RecordedReply>;

const WithoutMessage = RecordedReply.omit({ message: true });

/** Gives what `RecordedReply` gives, without validating a message that it would return unchanged. */
const replySchema: Schema<RecordedReply> = {
  parse(value) {
    const message = typeof value === "object" && value !== null && "message" in value ? value.message : undefined;
    if (!isPlainMessage(message)) return RecordedReply.parse(value);
    return isPlainReply(value) ? value : { message, ...WithoutMessage.parse(value) };
  },
};

const finishes: ReadonlySet<unknown> = new Set(WithoutMessage.shape.finish.options);

/** Whether it is a reply with nothing unusual about it, whose message is plain: `RecordedReply` would return it unchanged. */
function isPlainReply(value: unknown): value is RecordedReply {
  if (typeof value !== "object" || value === null || Object.keys(value).length !== 3) return false;
  const { usage, finish }: { usage?: unknown; finish?: unknown } = value;
  return finishes.has(finish) && isPlainUsage(usage);
}

function isPlainUsage(usage: unknown): usage is Usage {
  if (typeof usage !== "object" || usage === null || Object.keys(usage).length !== 3) return false;
  const { input_tokens, output_tokens, money_micro_usd }: Partial<Record<keyof Usage, unknown>> = usage;
  return isCount(input_tokens) && isCount(output_tokens) && (money_micro_usd === null || isCount(money_micro_usd));
}

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}

export interface ModelCall {
  readonly durable: Durable;
  readonly model: Model;
  readonly agent: FoundAgent;
  /** Changes when another model or format is chosen. */
  readonly setup: AgentSetup;
  /** The setup's system prompt and what the agent is told about where it works. */
  readonly system: string;
  readonly conversation: Conversation;
  readonly caller: { readonly environment: Pick<AgentEnvironment, "attendants"> };
  /** Goes on with another model or format. */
  choose(choice: ModelChoice): void;
}

export async function callModel(call: ModelCall): Promise<RecordedReply> {
  const { durable, conversation } = call;
  const { turn } = conversation;
  let failures = 0;
  let isShortened = false;
  for (let tries = 1; ; tries += 1) {
    try {
      const reply = await tryModel(call, tries === 1 ? `model:${turn}` : `model:${turn}.${tries}`);
      if (reply.raised_to !== undefined) conversation.raiseOutput(reply.raised_to);
      else if (reply.passed_on === true) await passOn(call, refusalReason(reply));
      else return reply;
    } catch (thrown) {
      if (!(thrown instanceof TuttiError) || thrown.code !== "step_failed") throw thrown;
      if (!isShortened && thrown.details?.["code"] === "too_large" && (await shorten(call, thrown))) {
        isShortened = true;
        continue;
      }
      if (await callsInText(call, thrown)) continue;
      failures += 1;
      if (thrown.retry !== "safe" || failures === maxTries) {
        if (!mayPassOn.has(thrown.details?.["code"]) || !(await passOn(call, thrown.message))) throw thrown;
        failures = 0;
        continue;
      }
      await durable.sleep(`pause:${turn}.${tries}`, firstPauseMs * 2 ** (failures - 1));
    }
  }
}

/** A model that a process of a program calls is called again when the process is gone, as one that was interrupted here is. */
function tryModel(call: ModelCall, key: string): Promise<RecordedReply> {
  const { durable, setup, caller } = call;
  const { attendants } = caller.environment;
  if (attendants === undefined) return stepOf(call, key);
  const wanted = { kind: "model", name: setup.model } as const;
  const attended = { key, wanted, repeatable: true };
  return whenAttended(durable, attendants, attended, (own) => stepOf(call, own));
}

async function stepOf(call: ModelCall, key: string): Promise<RecordedReply> {
  const { durable, model, agent, setup, conversation } = call;
  const { attendants } = call.caller.environment;
  const request = requestOf(call);
  return durable.step(
    key,
    {
      repeatable: true,
      schema: replySchema,
      owned: true,
      // Enough to notice another conversation without reading all of it in every turn.
      input: `${request.model} ${request.agent} ${conversation.view.length}`,
      event: eventOf,
      reserve: model.estimate(request),
      spent: usageOf,
    },
    async (step) => {
      const live = liveReply(step, setup);
      const reply = await model.call(
        request,
        attendants === undefined ? live.options : inTree(step, durable, live.options),
      );
      live.end();
      const { parts, original } = readReply(reply, setup, `r${durable.run}t${conversation.turn}`);
      const created_at = reply.message.created_at ?? step.now();
      const id = messageId(durable, key);
      const recorded = recordedReply(reply, { id, parts, created_at, agent_id: agent.id }, original);
      if (reply.finish === "refusal" && setup.nextModels.length > 0) return { ...recorded, passed_on: true };
      const raised = setup.raisedOutputTokens;
      // Once the limit was raised, a reply that is cut is the model's own doing.
      if (reply.finish !== "length" || raised === undefined || conversation.output !== undefined) return recorded;
      step.live("notice", `the reply was cut at its length limit; asking again for up to ${raised} tokens`);
      return { ...recorded, raised_to: raised };
    },
  );
}

const eventOf = ({ raised_to, passed_on }: RecordedReply): "message.added" | "step.finished" =>
  (raised_to ?? passed_on) === undefined ? "message.added" : "step.finished";
const usageOf = ({ usage }: RecordedReply): Usage => usage;

function requestOf({ agent, setup, system, conversation }: ModelCall): ModelRequest {
  const { format } = setup;
  const maxOutputTokens = conversation.output ?? setup.maxOutputTokens;
  const unlimited: ModelRequest = {
    model: setup.model,
    agent: agent.id,
    system,
    messages: conversation.formatted,
    tools: format === "native" ? shownTools(setup, conversation) : [],
    format,
    ...setup.callSettings,
    ...(setup.waits || hasWaited(conversation.view) ? { waits: true } : {}),
  };
  return maxOutputTokens === undefined ? unlimited : { ...unlimited, maxOutputTokens };
}

/** Failures that another model may not have: refused, out of order, out of reach, or no such model. */
const mayPassOn: ReadonlySet<unknown> = new Set(["refused", "not_found", "busy", "io", "deadline"]);

/** Goes on with the next model of the agent's list; false when there is none. */
async function passOn(call: ModelCall, reason: string): Promise<boolean> {
  const { model, setup } = call;
  const [next] = setup.nextModels;
  if (next === undefined) return false;
  const format = model.facts?.(next).format ?? "native";
  call.choose(await recordChange(call, { to: next, format, reason }));
  return true;
}

/** When the server takes no tools, the agent calls them in its text from now on; false when that is not the problem. */
async function callsInText(call: ModelCall, refused: TuttiError): Promise<boolean> {
  const { setup } = call;
  if (refused.details?.["reason"] !== "no_tools" || !setup.formatMayChange || setup.format === "fenced") return false;
  call.choose(await recordChange(call, { to: setup.model, format: "fenced", reason: refused.message }));
  return true;
}

const Changed = z.object({
  from: z.string(),
  to: z.string(),
  format: z.enum(["native", "fenced"]),
  reason: z.string(),
});

/** An event of its own, so that everybody can see which model answers and why. A restart goes by what is recorded. */
async function recordChange(
  { durable, setup, conversation }: ModelCall,
  change: Omit<z.infer<typeof Changed>, "from">,
): Promise<ModelChoice> {
  const options = { repeatable: true, schema: Changed, event: "model.changed", looks: true } as const;
  const key = `change:${conversation.turn}.${change.to}.${change.format}`;
  const { to, format } = await durable.step(key, options, () => ({ from: setup.model, ...change }));
  return { model: to, format };
}

function refusalReason({ message }: RecordedReply): string {
  const said = messageText(message).replaceAll(/\s+/g, " ").trim().slice(0, 300);
  return said === "" ? "the model refused to answer" : `the model refused to answer: ${said}`;
}

/** After this time a provider's usual cache is gone, or nearly so. */
const longWaitMs = 4 * 60_000;

/** Whether something that the agent has called took so long that it may well happen again. */
function hasWaited(view: readonly CompleteMessage[]): boolean {
  return view.some(({ role, created_at }, at) => {
    const before = view[at - 1];
    return role === "tool" && before?.role === "assistant" && created_at - before.created_at > longWaitMs;
  });
}

/** When the provider does not say what it takes, the conversation is cut to this share of its estimated size. */
const shareAfterOverflow = 0.8;

/**
 * Shortens the conversation after its request was refused as too long, and says whether that has helped. What it does
 * follows from the recorded failure, so a restart does the same.
 */
async function shorten(
  { durable, model, setup, conversation, caller }: ModelCall,
  refused: TuttiError,
): Promise<boolean> {
  const { size, measured } = conversation;
  const told = refused.details?.["limit"];
  const estimated = Math.floor(estimateTokens(size, measured) * shareAfterOverflow);
  const limit = typeof told === "number" ? told : estimated;
  conversation.lowerLimit(Math.min(limit, setup.contextTokens));
  const modelName = setup.model;
  await compactConversation({
    durable,
    model,
    modelName,
    conversation,
    limit: conversation.limit ?? limit,
    occasion: "overflow",
    attendants: caller.environment.attendants,
  });
  return conversation.size < size;
}

/** A provider lets a model call only tools that were declared, so those it has found are declared from then on. */
function shownTools({ toolbox }: AgentSetup, { view }: Conversation): readonly ModelTool[] {
  const found = foundTools(toolbox.deferred, view);
  return found.length === 0 ? toolbox.declarations : [...toolbox.declarations, ...found];
}

interface LiveReply {
  readonly options: ModelCallOptions;
  /** To be called when the reply is complete. */
  readonly end: () => void;
}

/** Shows a reply while the model writes it: in both formats its text, and each call as its name and arguments. */
function liveReply(step: RunningStep, setup: AgentSetup): LiveReply {
  const { format, toolNames, profile } = setup;
  // Made with the first text, so a model that does not stream costs nothing here.
  let fenced: FencedStream | undefined;
  const options: ModelCallOptions = {
    signal: step.signal,
    onText(text) {
      if (format === "native") {
        step.live("text", text);
        return;
      }
      fenced ??= streamFenced({ toolNames, profile }, (channel, shown) => step.live(channel, shown));
      fenced.push(text);
    },
    onReasoning: (text) => step.live("reasoning", text),
    onTool: (text) => step.live("tool", text),
    onNotice: (text) => step.live("notice", text),
    onRetry(again) {
      // What was shown so far belongs to a reply that broke off; the next one starts from the beginning.
      fenced = undefined;
      step.live("notice", retryText(again));
      step.during.tell(...modelWaiting(setup.model, again, step.now()));
    },
  };
  return { options, end: () => fenced?.end() };
}

function retryText({ reason, waitMs, next, most }: ModelRetry): string {
  return `${reason}; trying again ${aboutWhen(waitMs)} (${next} of ${most})`;
}

/** Nobody needs a wait to the millisecond. */
function aboutWhen(ms: number): string {
  const seconds = Math.round(ms / 1_000);
  if (seconds < 1) return "now";
  return seconds < 90 ? `in about ${seconds} s` : `in about ${Math.round(seconds / 60)} min`;
}

function recordedReply(
  { message: { name, role, parts_metadata }, usage, finish, malformed, contextTokens, contextLimit }: ModelReply,
  { id, parts, created_at, agent_id }: Pick<CompleteMessage, "id" | "parts" | "created_at" | "agent_id">,
  original: string | undefined,
): RecordedReply {
  const message: CompleteMessage = { id, name, role, parts, created_at, agent_id };
  // The metadata refers to the parts as they came; a placeholder that replaces them has none.
  if (parts_metadata !== undefined && original === undefined) message.parts_metadata = parts_metadata;
  const reply: RecordedReply = { message, usage, finish };
  if (original !== undefined) reply.original = original;
  if (contextLimit !== undefined) reply.context_limit = contextLimit;
  if (contextTokens !== undefined) reply.context_tokens = contextTokens;
  if (malformed !== undefined && malformed.length > 0) reply.malformed = [...malformed];
  return reply;
}
