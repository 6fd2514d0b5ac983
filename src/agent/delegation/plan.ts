// Turns an invocation into the tasks to be made, or says why none of them may exist.

import { resolveExecutor } from "../../core/resolve-executor.ts";
import type { ErrorCode } from "../../protocol/error.ts";
import type { AgentDefinition } from "../../protocol/invocation/invocation-file.ts";
import { describeInvocationError, validateInvocation } from "../../protocol/invocation/invocation-rules.ts";
import type { Invocation, Target } from "../../protocol/invocation/invocation.ts";
import type { NewTask } from "../../ports.ts";
import { adHocAgent, findAgent, type FoundAgent } from "./find-agent.ts";
import { grantTools, type Grant, type Granter } from "./grant.ts";
import type { TaskInput } from "./task-input.ts";

/** Who makes an invocation: an agent in its task, or the outside. */
export interface Caller extends Granter {
  /** Undefined when no task makes it. */
  readonly agent: { readonly id: string; readonly definition: AgentDefinition; readonly input: TaskInput } | undefined;
  /** The time its messages get that have none. */
  readonly now: number;
}

export interface PlanError {
  readonly ok: false;
  readonly code: ErrorCode;
  readonly message: string;
  readonly details?: Readonly<Record<string, unknown>>;
}

export type Plan = { readonly ok: true; readonly children: readonly NewTask[] } | PlanError;

/** Every target or none: the first thing wrong is the answer. */
export function planInvocation(caller: Caller, invocation: Invocation): Plan {
  const error = validateInvocation(invocation, { parent: caller.agent !== undefined });
  if (error !== undefined) {
    return { ok: false, code: "invalid_input", message: describeInvocationError(error), details: { ...error } };
  }
  const children: NewTask[] = [];
  for (const target of invocation.targets) {
    const planned = planTarget(caller, invocation, target);
    if (!planned.ok) return planned;
    children.push(planned.child);
  }
  return { ok: true, children };
}

function planTarget(
  caller: Caller,
  invocation: Invocation,
  target: Target,
): { readonly ok: true; readonly child: NewTask } | PlanError {
  const found = findTarget(caller, target);
  if (!found.ok) return found;
  if (!mayCall(caller, found.agent)) {
    return {
      ok: false,
      code: "refused",
      message: `${caller.agent?.id ?? ""} may not call the agent ${found.agent.id}`,
    };
  }
  const placed = placeTarget(caller, invocation, { target, agent: found.agent });
  if (!placed.ok) return placed;
  const { executor, grant } = placed;
  const input: TaskInput = {
    agent: target.agent,
    message: { ...target.message, created_at: target.message.created_at ?? caller.now },
    tools: grant.offer,
    context: invocation.context === "inherited" ? "inherited" : "independent",
  };
  const child: NewTask = {
    runner: executor.type === "local" ? { kind: "local", config: {} } : executor.runner,
    agent: found.agent.id,
    input,
    rights: grant.rights,
    ...ownLimits(found.agent),
    ...(invocation.join === "detached" ? { detached: true } : {}),
  };
  return { ok: true, child };
}

/** What a call of the agent takes out of its caller's account; its other limits are those of a run of its own. */
function ownLimits({ definition }: FoundAgent): Pick<NewTask, "budget"> {
  const { tokens, money_micro_usd: money } = definition.budget ?? {};
  if (tokens === undefined && money === undefined) return {};
  return {
    budget: { ...(tokens === undefined ? {} : { tokens }), ...(money === undefined ? {} : { money_micro_usd: money }) },
  };
}

/** The agent and what a handover to it would grant; the same checks as for a new task, and it must run here. */
export function planHandover(
  caller: Caller,
  invocation: Invocation,
): { readonly ok: true; readonly agent: FoundAgent; readonly grant: Grant; readonly target: Target } | PlanError {
  const error = validateInvocation(invocation, { parent: caller.agent !== undefined });
  const target = invocation.targets[0];
  if (error !== undefined || target === undefined) {
    const why = error ?? { kind: "no_targets" as const };
    return { ok: false, code: "invalid_input", message: describeInvocationError(why), details: { ...why } };
  }
  const found = findTarget(caller, target);
  if (!found.ok) return found;
  const placed = placeTarget(caller, invocation, { target, agent: found.agent });
  return placed.ok ? { ok: true, agent: found.agent, grant: placed.grant, target } : placed;
}

function findTarget(
  caller: Caller,
  { agent: ref }: Target,
): { readonly ok: true; readonly agent: FoundAgent } | PlanError {
  const agent = findAgent(caller.file, ref);
  if (agent !== undefined) return { ok: true, agent };
  const known = Object.keys(caller.file.agents).join(", ");
  const name = ref.type === "named" ? ref.agent_id : adHocAgent;
  return {
    ok: false,
    code: "not_found",
    message: `there is no agent ${name}; there are: ${known === "" ? "none" : known}`,
  };
}

function placeTarget(
  caller: Caller,
  invocation: Invocation,
  { target, agent }: { readonly target: Target; readonly agent: FoundAgent },
) {
  const { environment } = caller;
  const resolution = resolveExecutor({
    invocation: invocation.executor,
    target: target.executor,
    agentRuntimes: agent.definition.runtimes ?? [],
    callerRuntimes: environment.runtimes,
    runners: environment.runners,
    localOnly: invocation.context === "shared",
  });
  if (!resolution.ok) {
    const { kind, message } = resolution.error;
    return {
      ok: false as const,
      code: kind === "unknown_runner" ? ("not_found" as const) : ("refused" as const),
      message,
    };
  }
  const granting = grantTools(caller, { ref: target.agent, agent }, invocation.tools);
  if (!granting.ok)
    return { ok: false as const, code: "refused" as const, message: `${agent.id}: ${granting.message}` };
  return { ok: true as const, executor: resolution.executor, grant: granting.grant };
}

function mayCall(caller: Caller, agent: FoundAgent): boolean {
  const allowed = caller.agent?.definition.sub_agents;
  return allowed === undefined || allowed.includes(agent.id);
}
