// One call of the router's model, as a step of the assignment, and what its answer means for the handoff.

import { z } from "zod";

import { modelWaiting } from "../../core/model-waiting.ts";
import { messageId } from "../../core/message-id.ts";
import type { HandoffEvent } from "../../core/handoff-machine.ts";
import { readModelRef } from "../../core/choose-route.ts";
import { TuttiError } from "../../protocol/error.ts";
import { readWrittenJson } from "../../protocol/json/written-json.ts";
import type { Handoff } from "../../protocol/routing/handoff.ts";
import { readHandoff } from "../../protocol/routing/read-handoff.ts";
import { Usage } from "../../protocol/task/budget.ts";
import { completeMessage, messageText, userMessage } from "../../protocol/task/message.ts";
import type { Model } from "../../model-port.ts";
import type { Durable } from "../../ports.ts";
import type { RouterPrompt } from "./prompts.ts";

/** The agent that the router's calls are made for, as a rehearsal names it. */
const routerAgent = "_router";

const Reply = z.object({ text: z.string(), usage: Usage });

export interface RouterCall extends RouterPrompt {
  readonly key: string;
  /** `[runner:]model`. */
  readonly ref: string;
  readonly model: Model;
  readonly resolve: (name: string) => string;
}

/** The whole reply. Throws `refused` when the router is no model that can be asked, and `step_failed` when the call fails. */
export async function askRouter(durable: Durable, call: RouterCall): Promise<string> {
  const { key, ref, model, resolve, system, prompt } = call;
  const { runner, model: name } = readModelRef(ref);
  if (runner.kind !== "local") {
    throw new TuttiError("refused", `${ref} works in a session and cannot be asked what becomes of a task`);
  }
  const message = completeMessage(userMessage(prompt), {
    id: messageId(durable, key),
    now: await durable.now(`${key}.now`),
  });
  const request = { model: resolve(name), agent: routerAgent, system, messages: [message], tools: [] };
  const { text } = await durable.step(
    key,
    { repeatable: true, schema: Reply, input: prompt, reserve: model.estimate(request), spent: ({ usage }) => usage },
    async (step) => {
      const reply = await model.call(request, {
        signal: step.signal,
        onRetry: (again) => step.during.tell(...modelWaiting(request.model, again, step.now())),
      });
      return { text: messageText(reply.message), usage: reply.usage };
    },
  );
  return text;
}

interface Envelope {
  /** The handoff that is in force. */
  readonly handoff: Handoff;
  readonly from: string;
  readonly hash: (handoff: Handoff) => string;
}

/** The changed fields over the handoff in force. Only its sender may add the confidence. */
export function repairedEnvelope(
  text: string,
  { handoff, from, hash }: Envelope,
  { mayAddConfidence }: { readonly mayAddConfidence: boolean },
): { readonly event: HandoffEvent; readonly handoff: Handoff } {
  const read = fieldsIn(text);
  if (!read.ok) return { event: { type: "unreadable", problem: read.problem, hash: hash(handoff) }, handoff };
  const { conf, ...fields } = read.value;
  const changed = { ...handoff, ...fields, ...(mayAddConfidence && conf !== undefined ? { conf } : {}) };
  const envelope = { ...changed, from_model: handoff.from_model ?? from };
  return { event: { type: "envelope", handoff: envelope, hash: hash(envelope) }, handoff: envelope };
}

const Decided = z.object({ decision: z.string(), reason: z.string().default(""), handoff: z.unknown().optional() });

export function decidedEvent(
  text: string,
  { handoff, from, hash }: Envelope,
): { readonly event: HandoffEvent; readonly handoff: Handoff } {
  const decided = Decided.safeParse(jsonIn(text)?.value).data ?? { decision: "", reason: "" };
  const reason = decided.reason === "" ? "the router gives no reason" : decided.reason;
  switch (decided.decision) {
    case "abandon":
      return { event: { type: "abandoned", reason }, handoff };
    case "ask":
      return { event: { type: "escalated", reason }, handoff };
    case "handoff": {
      const read = readHandoff(decided.handoff ?? {});
      if (!read.ok) break;
      const envelope = { ...handoff, ...read.value, from_model: from };
      return { event: { type: "envelope", handoff: envelope, hash: hash(envelope) }, handoff: envelope };
    }
  }
  return { event: { type: "escalated", reason: "the router's reply is no valid decision" }, handoff };
}

function fieldsIn(text: string): { ok: true; value: Handoff } | { ok: false; problem: string } {
  const read = readHandoff(jsonIn(text)?.value ?? text);
  return read.ok ? { ok: true, value: read.value } : { ok: false, problem: read.error.message };
}

/** Models like to put a JSON object into a fence, or to say a word before it. */
function jsonIn(text: string): { readonly value: unknown } | undefined {
  const from = text.indexOf("{");
  const to = text.lastIndexOf("}");
  const read = from === -1 || to < from ? undefined : readWrittenJson(text.slice(from, to + 1));
  return read?.ok === true ? { value: read.value } : undefined;
}
