// One call of the model, as a step of its own: made again when nothing happened, its reply read and kept whole.

import { z } from "zod";

import { messageId } from "../../core/message-id.ts";
import { Usage } from "../../protocol/task/budget.ts";
import { TuttiError } from "../../protocol/error.ts";
import { CompleteMessage } from "../../protocol/task/message.ts";
import type { Durable, Model, ModelReply, ModelRequest, Schema } from "../../ports.ts";
import type { FoundAgent } from "../delegation/find-agent.ts";
import type { Conversation } from "./conversation.ts";
import type { AgentSetup } from "./agent-setup.ts";
import { isPlainMessage } from "./plain-message.ts";
import { readReply } from "./read-reply.ts";

/** Tries of one model call that fails with the verdict that nothing happened. */
const maxTries = 3;
const firstPauseMs = 250;

/** `original`: the reply as it was written, where the message does not say all of it. */
const Reply = z.object({
  message: CompleteMessage,
  usage: Usage,
  finish: z.enum(["stop", "tools", "length", "refusal"]),
  malformed: z.array(z.object({ tool_name: z.string(), text: z.string(), message: z.string() })).optional(),
  original: z.string().optional(),
});
export type Reply = z.infer<typeof Reply>;

const Rest = Reply.omit({ message: true });

/** Gives what `Reply` gives, without taking a message apart that it would return unchanged. */
const RecordedReply: Schema<Reply> = {
  parse(value) {
    const message = typeof value === "object" && value !== null && "message" in value ? value.message : undefined;
    return isPlainMessage(message) ? { message, ...Rest.parse(value) } : Reply.parse(value);
  },
};

export interface Asking {
  readonly agent: FoundAgent;
  readonly setup: AgentSetup;
  readonly talk: Conversation;
}

export async function askModel(durable: Durable, model: Model, { agent, setup, talk }: Asking): Promise<Reply> {
  const { format } = setup;
  const asked: ModelRequest = {
    model: setup.model,
    agent: agent.id,
    system: setup.system,
    messages: talk.sent,
    tools: format === "native" ? setup.toolbox.shown : [],
    format,
  };
  const maxOutputTokens = agent.definition.max_output_tokens;
  const request = maxOutputTokens === undefined ? asked : { ...asked, maxOutputTokens };
  const place = `model:${talk.turn}`;
  for (let tries = 1; ; tries += 1) {
    const key = tries === 1 ? place : `${place}.${tries}`;
    try {
      return await durable.step(
        key,
        {
          repeatable: true,
          schema: RecordedReply,
          // Enough to notice another conversation without reading all of it at every turn.
          input: `${request.model} ${request.agent} ${talk.view.length}`,
          event: "message.added",
          reserve: model.estimate(request),
          spent: (reply) => reply.usage,
        },
        async (step) => {
          const reply = await model.call(request, {
            signal: step.signal,
            onText: (text) => step.live("text", text),
            onReasoning: (text) => step.live("reasoning", text),
            onTool: (text) => step.live("tool", text),
            // What was shown of a reply that broke off does not count: the next one begins anew.
            onRetry: ({ reason, waitMs }) => step.live("text", `\n(asked again in ${waitMs} ms: ${reason})\n`),
          });
          const id = messageId(durable, key);
          const { parts, original } = readReply(reply, setup, `r${durable.run}t${talk.turn}`);
          const created_at = reply.message.created_at ?? step.now();
          return keptReply(reply, { id, parts, created_at, agent_id: agent.id }, original);
        },
      );
    } catch (thrown) {
      const again = thrown instanceof TuttiError && thrown.code === "step_failed" && thrown.retry === "safe";
      if (!again || tries === maxTries) throw thrown;
      await durable.sleep(`pause:${talk.turn}.${tries}`, firstPauseMs * 2 ** (tries - 1));
    }
  }
}

function keptReply(
  { message: given, usage, finish, malformed }: ModelReply,
  { id, parts, created_at, agent_id }: Pick<CompleteMessage, "id" | "parts" | "created_at" | "agent_id">,
  original: string | undefined,
): Reply {
  const { name, role, parts_metadata } = given;
  const message: CompleteMessage = { id, name, role, parts, created_at, agent_id };
  // It speaks of the parts as they came; a placeholder in their stead has none.
  if (parts_metadata !== undefined && original === undefined) message.parts_metadata = parts_metadata;
  const reply: Reply = { message, usage, finish };
  if (original !== undefined) reply.original = original;
  if (malformed !== undefined && malformed.length > 0) reply.malformed = [...malformed];
  return reply;
}
