// The runner `invocation`: the root of a tree, which makes the tasks of an invocation and waits for them as it says.

import { agentEnvironment, type AgentEnvironment } from "../../agent/agent-environment.ts";
import { invoke } from "../../agent/delegation/run-invocation.ts";
import { type Caller, planInvocation } from "../../agent/delegation/plan.ts";
import { treeFile } from "../../agent/delegation/task-input.ts";
import { TuttiError } from "../../protocol/error.ts";
import type { InvocationFile } from "../../protocol/invocation/invocation-file.ts";
import type { NewTask, Runner } from "../../ports.ts";

/** Its result is an InvocationResult; a target that fails is in it and does not fail the root. */
export function invocationRunner(parts: Partial<AgentEnvironment> = {}): Runner {
  const environment = agentEnvironment(parts);
  return async (durable) => {
    const file = treeFile(durable.rootInput);
    checkNames(file, environment);
    const caller = callerOf({ file, environment, rights: durable.rights, now: await durable.now("now") });
    return invoke(durable, "targets", file.invocation, { caller, history: [] });
  };
}

/** Throws `invalid_input` for a file whose targets could not be made, before there is any task; returns what they would be. */
export function checkInvocation(
  file: InvocationFile,
  task: Pick<NewTask, "rights">,
  parts: Partial<AgentEnvironment>,
): readonly NewTask[] {
  const environment = agentEnvironment(parts);
  checkNames(file, environment);
  const plan = planInvocation(callerOf({ file, environment, rights: task.rights, now: 0 }), file.invocation);
  if (plan.ok) return plan.children;
  throw new TuttiError("invalid_input", plan.message, plan.details === undefined ? {} : { details: plan.details });
}

function callerOf(base: Pick<Caller, "file" | "environment" | "rights" | "now">): Caller {
  return { ...base, offer: "*", agent: undefined };
}

/** A client's tool may not stand in for one of the environment: an agent that calls it must know whose it is. */
function checkNames(file: InvocationFile, environment: AgentEnvironment): void {
  const taken = new Set(["final", "handover", "invoke_agent", ...environment.tools.map((tool) => tool.name)]);
  const clash = file.external_tools.filter((tool) => taken.has(tool.name)).map((tool) => tool.name);
  if (clash.length > 0) {
    throw new TuttiError(
      "invalid_input",
      `external_tools: ${clash.join(", ")} has the name of a built-in tool; rename it`,
    );
  }
}
