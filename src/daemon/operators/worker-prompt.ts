// Builds what a worker is told to do: the agent's instructions, the task's message, and the conversation it inherits.

import { accountKinds } from "../../core/account.ts";
import { taskBodyIn } from "../../engine/task-body.ts";
import { defaultBudget } from "../../protocol/task/budget.ts";
import type { AttemptLives } from "../../protocol/operator/lease.ts";
import { operatorKeys } from "../../protocol/operator/operator-waits.ts";
import { findAgent } from "../../agent/delegation/find-agent.ts";
import { handedMessages } from "../../agent/delegation/handed-messages.ts";
import { TaskInput } from "../../agent/delegation/task-input.ts";
import { InvocationFile } from "../../protocol/invocation/invocation-file.ts";
import { messageText } from "../../protocol/task/message.ts";
import type { WorkerPrompt } from "../../protocol/operator/worker.ts";
import type { Store, TaskRow } from "../../store/store.ts";

interface PromptContext {
  readonly store: Pick<Store, "task" | "logById" | "waitAt">;
}

interface PromptFor {
  readonly task_id: string;
  readonly attempt: number;
  /** When the rights expire with which the prompt is fetched. */
  readonly expires_at: number;
  readonly lives: AttemptLives;
}

/** Read from the store alone. If a task names no agent, its input is the prompt. */
export function workerPrompt(context: PromptContext, row: TaskRow, prompt: PromptFor): WorkerPrompt {
  const { task_id, attempt } = prompt;
  const { input, rights } = taskBodyIn(row.body);
  const { roots } = rights;
  const about = {
    task_id,
    attempt,
    ...(roots[0] === undefined ? {} : { folder: roots[0] }),
    roots: [...roots],
    limits: limitsOf(context, row, attempt),
    lease: leaseOf(prompt),
  };
  const read = TaskInput.safeParse(input);
  if (!read.success) {
    return { ...about, agent: row.agent, prompt: typeof input === "string" ? input : JSON.stringify(input ?? null) };
  }
  const { agent, message } = read.data;
  const root = row.root === row.id ? row : context.store.task(row.root);
  const file = root === undefined ? undefined : InvocationFile.safeParse(taskBodyIn(root.body).input).data;
  const system = file === undefined ? undefined : findAgent(file, agent)?.instructions;
  const messages = handedMessages({
    task: task_id,
    input: read.data,
    shared: sharedOf(context, row),
    now: row.created_at,
  });
  return {
    ...about,
    agent: row.agent,
    ...(system === undefined ? {} : { system }),
    prompt: messageText(message),
    ...(messages.length === 0 ? {} : { messages }),
  };
}

function leaseOf({ expires_at, lives }: PromptFor): WorkerPrompt["lease"] {
  return { expires_at, token_ms: lives.tokenMs, lease_ms: lives.leaseMs, renew: "POST /v1/worker/events" };
}

/** A task without a budget of its own uses that of the nearest task above it that has one. */
function limitsOf({ store }: PromptContext, row: TaskRow, attempt: number): WorkerPrompt["limits"] {
  const limits: { tokens?: number; money_micro_usd?: number } = {};
  for (
    let at: TaskRow | undefined = row;
    at !== undefined;
    at = at.parent === null ? undefined : store.task(at.parent)
  ) {
    const budget = taskBodyIn(at.body).budget;
    for (const kind of accountKinds) if (budget?.[kind] !== undefined) limits[kind] ??= budget[kind];
  }
  const { tokens, money_micro_usd } = defaultBudget;
  const deadline = store.waitAt(row.id, attempt, operatorKeys.result)?.due ?? 0;
  return { deadline, tokens, money_micro_usd, ...limits };
}

function sharedOf({ store }: PromptContext, { shared }: TaskRow): unknown {
  const body = shared === null ? undefined : store.logById(shared)?.body;
  return body === undefined || body === null ? undefined : JSON.parse(body);
}
