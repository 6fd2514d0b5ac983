// Carries out an invocation: all its tasks are spawned at once, and the caller waits for them as it asked to.

import { snapshotHistory } from "../../core/history.ts";
import { TuttiError } from "../../protocol/error.ts";
import type { InvocationResult } from "../../protocol/invocation/invocation-result.ts";
import type { Invocation } from "../../protocol/invocation/invocation.ts";
import type { CompleteMessage } from "../../protocol/task/message.ts";
import type { Durable } from "../../ports.ts";
import { type Caller, planHandover, planInvocation, type PlanError } from "./plan.ts";
import type { SharedHistory, TaskInput } from "./task-input.ts";

export interface InvokeOptions {
  readonly caller: Caller;
  /** The caller's conversation up to here; empty when it has none. */
  readonly history: readonly CompleteMessage[];
  /** Why a handover is made; shown. */
  readonly reason?: string;
}

/** Throws before anything exists when a target is refused. With context `shared` it does not return. */
export async function invoke(
  durable: Durable,
  key: string,
  invocation: Invocation,
  options: InvokeOptions,
): Promise<InvocationResult> {
  if (invocation.context === "shared") return handOver(durable, key, invocation, options);
  const plan = planInvocation(options.caller, invocation);
  if (!plan.ok) throw planError(plan);
  const shared = invocation.context === "inherited" ? sharedHistory(options.history) : undefined;
  const ids = await durable.spawn(key, plan.children, shared);
  if (invocation.join === "detached") return { kind: "task_ids", task_ids: ids };
  const results = await durable.join(ids);
  const [result] = results;
  return invocation.join === "single" && result !== undefined
    ? { kind: "scalar", result }
    : { kind: "vector", results };
}

/** One snapshot for all children, so that none sees what a faster sibling brought about. */
export function sharedHistory(history: readonly CompleteMessage[]): SharedHistory {
  return { history: snapshotHistory(history) };
}

async function handOver(
  durable: Durable,
  key: string,
  invocation: Invocation,
  { caller, reason }: InvokeOptions,
): Promise<never> {
  const plan = planHandover(caller, invocation);
  if (!plan.ok) throw planError(plan);
  const { target, agent, grant } = plan;
  const message = { ...target.message, created_at: target.message.created_at ?? caller.now };
  const before = caller.agent;
  const input: TaskInput = {
    agent: target.agent,
    message: before?.input.message ?? message,
    tools: grant.offer,
    context: before?.input.context ?? "independent",
    handed: { message, from: before?.id ?? durable.agent },
  };
  const why = reason === undefined ? {} : { reason };
  return durable.handover(key, { agent: agent.id, input, rights: grant.rights, ...why });
}

export function planError({ code, message, details }: PlanError): TuttiError {
  return new TuttiError(code, message, details === undefined ? {} : { details });
}
