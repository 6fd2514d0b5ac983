// Carries out an invocation: creates all its tasks in one commit and waits for them the way its `join` says.

import { boundResults } from "../../core/bound-results.ts";
import { snapshotHistory } from "../../core/history.ts";
import type { InvocationResult } from "../../protocol/invocation/invocation-result.ts";
import type { Invocation } from "../../protocol/invocation/invocation.ts";
import type { CompleteMessage } from "../../protocol/task/message.ts";
import type { Durable } from "../../ports.ts";
import type { Caller } from "./invocation-caller.ts";
import { planFailure, planHandover, planInvocation } from "./plan.ts";
import type { SharedHistory, TaskInput } from "./task-input.ts";

export interface InvocationOptions {
  readonly caller: Caller;
  /** The caller's conversation up to here; empty when it has none. */
  readonly history: readonly CompleteMessage[];
  /** Why a handover is made; shown to people. */
  readonly reason?: string;
}

/** Throws before any task exists when a target is refused. With context `shared` it does not return. */
export async function runInvocation(
  durable: Durable,
  key: string,
  invocation: Invocation,
  options: InvocationOptions,
): Promise<InvocationResult> {
  if (invocation.context === "shared") return handOver(durable, key, invocation, options);
  const plan = planInvocation(options.caller, invocation);
  if (!plan.ok) throw planFailure(plan);
  const shared = invocation.context === "inherited" ? sharedHistory(options.history) : undefined;
  const ids = await durable.spawn(key, plan.children, shared);
  if (invocation.join === "detached") return { kind: "task_ids", task_ids: ids };
  const results = await durable.join(ids);
  const [result] = results;
  return invocation.join === "single" && result !== undefined
    ? { kind: "scalar", result }
    : { kind: "vector", results: boundResults(results) };
}

/** One snapshot for all children, so that none of them sees results of a sibling that was faster. */
export function sharedHistory(history: readonly CompleteMessage[]): SharedHistory {
  return { history: snapshotHistory(history) };
}

async function handOver(
  durable: Durable,
  key: string,
  invocation: Invocation,
  { caller, reason }: InvocationOptions,
): Promise<never> {
  const plan = planHandover(caller, invocation);
  if (!plan.ok) throw planFailure(plan);
  const { target, agent, access } = plan;
  const message = { ...target.message, created_at: target.message.created_at ?? caller.now };
  const from = caller.agent;
  const input: TaskInput = {
    agent: target.agent,
    message: from?.input.message ?? message,
    tools: access.offeredTools,
    context: from?.input.context ?? "independent",
    ...(from?.input.thread === true ? { thread: true } : {}),
    handed: { message, from: from?.id ?? durable.agent },
  };
  const why = reason === undefined ? {} : { reason };
  return durable.handover(key, { agent: agent.id, input, rights: access.rights, ...why });
}
