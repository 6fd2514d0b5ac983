// The runner `invocation`: the root of a tree. It creates the tasks of an invocation and waits for them as its `join` says.

import { agentEnvironment, type AgentEnvironment } from "../../agent/agent-environment.ts";
import type { Caller } from "../../agent/delegation/invocation-caller.ts";
import { runInvocation } from "../../agent/delegation/run-invocation.ts";
import { treeFile } from "../../agent/delegation/task-input.ts";
import type { Runner } from "../../ports.ts";

/** Its result is an InvocationResult. A target that fails is part of that result and does not fail the root. */
export function invocationRunner(environment: Partial<AgentEnvironment> = {}): Runner {
  return async (durable) => {
    const file = treeFile(durable.rootInput);
    const caller = rootCaller({ file, environment, rights: durable.rights, now: await durable.now("now") });
    return runInvocation(durable, "targets", file.invocation, { caller, history: [] });
  };
}

/** Whoever starts the tree from outside: it may use every tool of the environment, and is no agent. */
export function rootCaller({
  environment,
  ...caller
}: Pick<Caller, "file" | "rights" | "now"> & { readonly environment: Partial<AgentEnvironment> }): Caller {
  return { ...caller, environment: agentEnvironment(environment), offeredTools: "*", agent: undefined };
}
