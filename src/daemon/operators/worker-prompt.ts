// What a worker is told to do: the agent's instructions, the task's message, and the conversation it inherits.

import { z } from "zod";

import { findAgent } from "../../agent/delegation/find-agent.ts";
import { SharedHistory, TaskInput } from "../../agent/delegation/task-input.ts";
import { InvocationFile } from "../../protocol/invocation/invocation-file.ts";
import { type CompleteMessage, completeMessage, messageText } from "../../protocol/task/message.ts";
import type { WorkerPrompt } from "../../protocol/operator/worker.ts";
import type { Store, TaskRow } from "../../store/store.ts";
import type { StoreView } from "../../store/view.ts";

interface Records {
  readonly view: Pick<StoreView, "taskRow">;
  readonly store: Pick<Store, "logById">;
}

const Body = z.object({ input: z.unknown() });

/** From the records alone. A task that no agent was named for has its input as its prompt. */
export function workerPrompt(
  records: Records,
  row: TaskRow,
  about: { readonly task_id: string; readonly attempt: number },
): WorkerPrompt {
  const input = inputOf(row);
  const read = TaskInput.safeParse(input);
  if (!read.success) {
    return { ...about, agent: row.agent, prompt: typeof input === "string" ? input : JSON.stringify(input ?? null) };
  }
  const { agent, message } = read.data;
  const root = row.root === row.id ? row : records.view.taskRow(row.root);
  const file = root === undefined ? undefined : InvocationFile.safeParse(inputOf(root)).data;
  const system = file === undefined ? undefined : findAgent(file, agent)?.instructions;
  const messages = read.data.context === "inherited" ? historyOf(records, row) : [];
  // What is not text has no place in a prompt.
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
  return Body.parse(JSON.parse(body)).input;
}

function historyOf(records: Records, { shared }: TaskRow): CompleteMessage[] {
  const body = shared === null ? undefined : records.store.logById(shared)?.body;
  if (body === undefined || body === null) return [];
  return SharedHistory.safeParse(JSON.parse(body)).data?.history ?? [];
}
