// Plans an invocation: turns it into the tasks to create, or says why none of them may exist. Pure, so planning has no effect.

import { resolveExecutor } from "../../core/resolve-executor.ts";
import { type ErrorCode, TuttiError } from "../../protocol/error.ts";
import type { Executor } from "../../protocol/invocation/executor.ts";
import { describeInvocationError, validateInvocation } from "../../protocol/invocation/invocation-rules.ts";
import type { Invocation, Target } from "../../protocol/invocation/invocation.ts";
import type { NewTask } from "../../ports.ts";
import { reservedToolNames } from "../tools/loop-tools.ts";
import type { Caller } from "./invocation-caller.ts";
import { adHocAgent, findAgent, type FoundAgent } from "./find-agent.ts";
import { resolveTools, type ToolAccess } from "./resolve-tools.ts";
import type { TaskInput } from "./task-input.ts";

export interface PlanError {
  readonly ok: false;
  readonly code: ErrorCode;
  readonly message: string;
  readonly details?: Readonly<Record<string, unknown>>;
}

export type Plan = { readonly ok: true; readonly children: readonly NewTask[] } | PlanError;

export function planFailure({ code, message, details }: PlanError): TuttiError {
  return new TuttiError(code, message, details === undefined ? {} : { details });
}

/** All targets are planned or none: the first problem is the answer. */
export function planInvocation(caller: Caller, invocation: Invocation): Plan {
  const clashing = caller.agent === undefined ? clashingNames(caller) : [];
  if (clashing.length > 0) {
    const message = `external_tools: ${clashing.join(", ")} has the name of a built-in tool; rename it`;
    return { ok: false, code: "invalid_input", message };
  }
  const error = validateInvocation(invocation, { parent: caller.agent !== undefined });
  if (error !== undefined) {
    return { ok: false, code: "invalid_input", message: describeInvocationError(error), details: { ...error } };
  }
  const isThread = isSaidIntoThread(caller);
  if (isThread && invocation.join !== "single") {
    const message = `a thread takes one target, whose caller waits for it (join "single"), not join "${invocation.join}"`;
    return { ok: false, code: "invalid_input", message };
  }
  const children: NewTask[] = [];
  for (const target of invocation.targets) {
    const planned = planTarget(caller, invocation, target);
    if (!planned.ok) return planned;
    if (isThread && !holdsThreads.has(planned.child.runner.kind)) return noThread(planned.child);
    children.push(planned.child);
  }
  return { ok: true, children };
}

/** Only what comes from outside is said into the thread; what its agents call are tasks of their own. */
function isSaidIntoThread({ file, agent }: Caller): boolean {
  return file.thread !== undefined && agent === undefined;
}

/** The runners that begin with what was said before. */
const holdsThreads: ReadonlySet<string> = new Set(["local"]);

function noThread({ agent, runner }: NewTask): PlanError {
  const message = `${agent} cannot go on with a thread, because its runner ${runner.kind} does not see what was said before; leave \`thread\` out`;
  return { ok: false, code: "refused", message };
}

/** A client's tool may not take the name of a built-in one: the agent that calls it must know whose tool runs. */
function clashingNames({ file, environment }: Caller): string[] {
  if (file.external_tools.length === 0) return [];
  const taken = new Set<string>([...reservedToolNames, ...environment.tools.map((tool) => tool.name)]);
  return file.external_tools.map((tool) => tool.name).filter((name) => taken.has(name));
}

function planTarget(
  caller: Caller,
  invocation: Invocation,
  target: Target,
): { readonly ok: true; readonly child: NewTask } | PlanError {
  const found = findTarget(caller, target);
  if (!found.ok) return found;
  const { agent } = found;
  if (!mayCall(caller, agent)) {
    const message = `${caller.agent?.id ?? ""} may not call the agent ${agent.id}`;
    return { ok: false, code: "refused", message };
  }
  const resolved = resolveTarget(caller, invocation, { target, agent });
  if (!resolved.ok) return resolved;
  const { executor, access } = resolved;
  const input: TaskInput = {
    agent: target.agent,
    message: { ...target.message, created_at: target.message.created_at ?? caller.now },
    tools: access.offeredTools,
    context: invocation.context === "inherited" ? "inherited" : "independent",
    ...(isSaidIntoThread(caller) ? { thread: true } : {}),
  };
  const child: NewTask = {
    runner: executor.type === "local" ? ownRunner(caller, executor) : executor.runner,
    agent: agent.id,
    input,
    rights: access.rights,
    ...carvedBudget(agent),
    ...(invocation.join === "detached" ? { detached: true } : {}),
  };
  return { ok: true, child };
}

function ownRunner({ environment }: Caller, { workspace }: Executor & { type: "local" }): NewTask["runner"] {
  return { kind: environment.ownRunner, config: workspace === undefined ? {} : { workspace } };
}

/** Tokens and money are carved out of the caller's account. The agent's other limits hold only when it is started by itself. */
function carvedBudget({ definition }: FoundAgent): Pick<NewTask, "budget"> {
  const { tokens, money_micro_usd: money } = definition.budget ?? {};
  if (tokens === undefined && money === undefined) return {};
  return {
    budget: { ...(tokens === undefined ? {} : { tokens }), ...(money === undefined ? {} : { money_micro_usd: money }) },
  };
}

/** The agent a handover goes to and the tools it gets. Checked like a new task, and it must run in this process. */
export function planHandover(
  caller: Caller,
  invocation: Invocation,
): { readonly ok: true; readonly agent: FoundAgent; readonly access: ToolAccess; readonly target: Target } | PlanError {
  const error = validateInvocation(invocation, { parent: caller.agent !== undefined });
  const target = invocation.targets[0];
  if (error !== undefined || target === undefined) {
    const why = error ?? { kind: "no_targets" as const };
    return { ok: false, code: "invalid_input", message: describeInvocationError(why), details: { ...why } };
  }
  const found = findTarget(caller, target);
  if (!found.ok) return found;
  const resolved = resolveTarget(caller, invocation, { target, agent: found.agent });
  return resolved.ok ? { ok: true, agent: found.agent, access: resolved.access, target } : resolved;
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

/** Where the target runs and which tools it gets. */
function resolveTarget(
  caller: Caller,
  invocation: Invocation,
  { target, agent }: { readonly target: Target; readonly agent: FoundAgent },
): { readonly ok: true; readonly executor: Executor; readonly access: ToolAccess } | PlanError {
  const { environment } = caller;
  const resolution = resolveExecutor({
    invocation: invocation.executor,
    target: target.executor,
    agentRuntimes: agent.definition.runtimes ?? [],
    agentRunner: agent.definition.runner,
    callerRuntimes: environment.runtimes,
    runners: environment.runners,
    localOnly: invocation.context === "shared",
  });
  if (!resolution.ok) {
    const { kind, message } = resolution.error;
    return { ok: false, code: kind === "unknown_runner" ? "not_found" : "refused", message };
  }
  const tools = resolveTools(caller, { ref: target.agent, agent }, invocation.tools);
  if (!tools.ok) return { ok: false, code: "refused", message: `${agent.id}: ${tools.message}` };
  return { ok: true, executor: resolution.executor, access: tools.access };
}

function mayCall(caller: Caller, agent: FoundAgent): boolean {
  const allowed = caller.agent?.definition.sub_agents;
  return allowed === undefined || allowed.includes(agent.id);
}
