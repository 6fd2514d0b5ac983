// One call of a conversation's model as a recorded step, tried again when nothing happened.

import { z } from "zod";

import { modelWaiting } from "../../core/model-waiting.ts";
import type { ModelRequest, ModelRetry } from "../../model-port.ts";
import { TuttiError } from "../../protocol/error.ts";
import { Usage } from "../../protocol/task/budget.ts";
import { type CompleteMessage, messageText } from "../../protocol/task/message.ts";
import { type ConversationRun, keyOf, managerAgent, type Turn } from "./conversation-run.ts";
import { stopHint } from "./conversation-prompt.ts";
import { liveAnswer } from "./live-answer.ts";

/** How often a call is tried that fails with the verdict that nothing happened. */
const maxTries = 3;
const firstPauseMs = 250;

const Reply = z.object({ text: z.string(), usage: Usage });
type Reply = z.infer<typeof Reply>;

/** Throws `step_failed` when there is no reply. */
export async function askModel(turn: Turn, { isLast }: { readonly isLast: boolean }): Promise<Reply> {
  const { run, system, exchanges } = turn;
  const request = {
    model: run.modelName,
    agent: managerAgent,
    system,
    messages: requestMessages(turn, isLast),
    tools: [],
  };
  return callModel(run, { key: keyOf(turn, `model.${exchanges.length + 1}`), request, isShown: true });
}

interface ConversationCall {
  readonly key: string;
  readonly request: ModelRequest;
  /** Whether the person sees the reply while it is written. */
  readonly isShown: boolean;
}

export async function callModel(
  { durable, model }: ConversationRun,
  { key, request, isShown }: ConversationCall,
): Promise<Reply> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await durable.step(
        `${key}.${tries}`,
        {
          repeatable: true,
          schema: Reply,
          input: `${request.model} ${request.messages.length}`,
          reserve: model.estimate(request),
          spent: ({ usage }) => usage,
        },
        async (step) => {
          const onText = isShown ? liveAnswer((text) => step.live("text", text)) : () => undefined;
          const onRetry = (again: ModelRetry): void =>
            step.during.tell(...modelWaiting(request.model, again, step.now()));
          const reply = await model.call(request, { signal: step.signal, onText, onRetry });
          return { text: messageText(reply.message), usage: reply.usage };
        },
      );
    } catch (thrown) {
      const mayRepeat = thrown instanceof TuttiError && thrown.code === "step_failed" && thrown.retry === "safe";
      if (!mayRepeat || tries === maxTries) throw thrown;
      await durable.sleep(`${key}.${tries}.pause`, firstPauseMs * 2 ** (tries - 1));
    }
  }
}

/** The rounds so far, the person's message, and what this turn's verbs gave. */
function requestMessages({ run, said, exchanges }: Turn, isLast: boolean): CompleteMessage[] {
  const texts: { readonly role: "user" | "assistant"; readonly text: string }[] = [
    ...run.context.rounds.flatMap((round) => [
      { role: "user" as const, text: round.verbs.length === 0 ? round.user : withVerbs(round.user, round.verbs) },
      { role: "assistant" as const, text: round.reply },
    ]),
    { role: "user", text: said },
    ...exchanges.flatMap(({ reply, told }) => [
      { role: "assistant" as const, text: reply },
      { role: "user" as const, text: told },
    ]),
  ];
  if (isLast) texts.push({ role: "user", text: stopHint });
  return texts.map(({ role, text }, at) => ({
    id: `${run.durable.task}.view.${at}`,
    name: null,
    role,
    parts: [{ part_type: "text", data: text }],
    created_at: 0,
    ...(role === "assistant" ? { agent_id: managerAgent } : {}),
  }));
}

function withVerbs(user: string, verbs: readonly string[]): string {
  return `${user}\n\n[verbs that were used to answer this: ${verbs.join("; ")}]`;
}

/** Everything that the next request will hold beside the rounds, to estimate its length. */
export function requestLength(turn: Turn): string {
  return [turn.system, turn.said, ...turn.exchanges.map(({ reply, told }) => reply + told)].join("\n");
}
