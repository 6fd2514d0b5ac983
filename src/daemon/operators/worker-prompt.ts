// Builds what a worker is told to do: the agent's instructions, the task's message, and the conversation it inherits.

import { z } from "zod";

import { findAgent } from "../../agent/delegation/find-agent.ts";
import { SharedHistory, TaskInput } from "../../agent/delegation/task-input.ts";
import { InvocationFile } from "../../protocol/invocation/invocation-file.ts";
import { type CompleteMessage, completeMessage, messageText } from "../../protocol/task/message.ts";
import type { WorkerPrompt } from "../../protocol/operator/worker.ts";
import type { Store, TaskRow } from "../../store/store.ts";

interface PromptContext {
  readonly store: Pick<Store, "task" | "logById">;
}

const TaskBody = z.object({ input: z.unknown() });

/** Read from the store alone. If a task names no agent, its input is the prompt. */
export function workerPrompt(
  context: PromptContext,
  row: TaskRow,
  about: { readonly task_id: string; readonly attempt: number },
): WorkerPrompt {
  const input = inputOf(row);
  const read = TaskInput.safeParse(input);
  if (!read.success) {
    return { ...about, agent: row.agent, prompt: typeof input === "string" ? input : JSON.stringify(input ?? null) };
  }
  const { agent, message } = read.data;
  const root = row.root === row.id ? row : context.store.task(row.root);
  const file = root === undefined ? undefined : InvocationFile.safeParse(inputOf(root)).data;
  const system = file === undefined ? undefined : findAgent(file, agent)?.instructions;
  const messages = read.data.context === "inherited" ? historyOf(context, row) : [];
  // A prompt is text. A message with other parts is handed over whole as well.
  if (message.parts.some(({ part_type }) => part_type !== "text")) {
    messages.push(completeMessage(message, { id: `${about.task_id}.prompt`, now: row.created_at }));
  }
  return {
    ...about,
    agent: row.agent,
    ...(system === undefined ? {} : { system }),
    prompt: messageText(message),
    ...(messages.length === 0 ? {} : { messages }),
  };
}

function inputOf({ body }: TaskRow): unknown {
  return TaskBody.parse(JSON.parse(body)).input;
}

function historyOf(context: PromptContext, { shared }: TaskRow): CompleteMessage[] {
  const body = shared === null ? undefined : context.store.logById(shared)?.body;
  if (body === undefined || body === null) return [];
  return SharedHistory.safeParse(JSON.parse(body)).data?.history ?? [];
}
