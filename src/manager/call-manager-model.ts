// One call of the manager's model as a recorded step, tried again when nothing happened.

import { z } from "zod";

import { modelWaiting } from "../core/model-waiting.ts";
import { messageId } from "../core/message-id.ts";
import type { ModelRequest } from "../model-port.ts";
import { TuttiError } from "../protocol/error.ts";
import { Usage } from "../protocol/task/budget.ts";
import { CompleteMessage, messageText, userMessage } from "../protocol/task/message.ts";
import { type GoalRun, nextKey } from "./goal-run.ts";

export const managerAgent = "manager";

/** How often a call is tried that fails with the verdict that nothing happened. */
const maxTries = 3;
const firstPauseMs = 250;

const RecordedReply = z.object({ message: CompleteMessage, usage: Usage });

/** Says `text` to the manager's model and returns its reply. Throws `step_failed` when it cannot be had. */
export async function callManagerModel(run: GoalRun, text: string): Promise<string> {
  const { durable, conversation } = run;
  conversation.push(durable.say(nextKey(run, "told"), userMessage(text)));
  for (let tries = 1; ; tries += 1) {
    try {
      const reply = await tryOnce(run);
      conversation.push(reply);
      return messageText(reply);
    } catch (thrown) {
      const mayRepeat = thrown instanceof TuttiError && thrown.code === "step_failed" && thrown.retry === "safe";
      if (!mayRepeat || tries === maxTries) {
        // The conversation goes on without what was not answered.
        conversation.pop();
        throw thrown;
      }
      await durable.sleep(nextKey(run, "pause"), firstPauseMs * 2 ** (tries - 1));
    }
  }
}

async function tryOnce({ durable, model, modelName, system, conversation, ...run }: GoalRun): Promise<CompleteMessage> {
  const key = `model.${conversation.length}.${run.operations}`;
  const request: ModelRequest = { model: modelName, agent: managerAgent, system, messages: conversation, tools: [] };
  const { message } = await durable.step(
    key,
    {
      repeatable: true,
      schema: RecordedReply,
      input: `${modelName} ${conversation.length}`,
      event: "message.added",
      reserve: model.estimate(request),
      spent: ({ usage }) => usage,
    },
    async (step) => {
      const reply = await model.call(request, {
        signal: step.signal,
        onText: (text) => step.live("text", text),
        onRetry: (again) => step.during.tell(...modelWaiting(request.model, again, step.now())),
      });
      const { name, role, parts } = reply.message;
      const created_at = reply.message.created_at ?? step.now();
      return {
        message: { id: messageId(durable, key), name, role, parts, created_at, agent_id: managerAgent },
        usage: reply.usage,
      };
    },
  );
  return message;
}
