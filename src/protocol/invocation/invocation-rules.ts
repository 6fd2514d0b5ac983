// Which invocations make sense: the checks made before any task exists, in the order they are reported.

import type { ExecutorHint } from "./executor.ts";
import type { Invocation, Target } from "./invocation.ts";
import { isBlankMessage } from "../task/message.ts";

/** `target` is the index of the target at fault. */
export type InvocationError =
  | { readonly kind: "no_targets" }
  | { readonly kind: "single_needs_one_target"; readonly got: number }
  | { readonly kind: "named_empty_agent_id"; readonly target: number }
  | { readonly kind: "ad_hoc_empty_prompt"; readonly target: number }
  | { readonly kind: "empty_message"; readonly target: number }
  | { readonly kind: "empty_runner_kind"; readonly target?: number }
  | { readonly kind: "empty_tool_name" }
  | { readonly kind: "shared_needs_parent" }
  | { readonly kind: "shared_needs_one_target"; readonly got: number }
  | { readonly kind: "shared_needs_named_agent" }
  | { readonly kind: "shared_not_detached" }
  | { readonly kind: "shared_not_remote" };

/** The first thing wrong with an invocation, or undefined. `parent`: whether a task makes it. */
export function validateInvocation(
  invocation: Invocation,
  caller: { readonly parent: boolean },
): InvocationError | undefined {
  const { targets, join } = invocation;
  if (targets.length === 0) return { kind: "no_targets" };
  if (join === "single" && targets.length !== 1) return { kind: "single_needs_one_target", got: targets.length };
  return (
    firstError(targets, agentError) ??
    firstError(targets, messageError) ??
    policyError(invocation) ??
    (invocation.context === "shared" ? handoverError(invocation, caller.parent) : undefined)
  );
}

/** One line for a person or a model, saying what to change. */
export function describeInvocationError(error: InvocationError): string {
  switch (error.kind) {
    case "no_targets":
      return "the invocation has no target: give at least one";
    case "single_needs_one_target":
      return `join "single" takes exactly one target, got ${error.got}: use "all" or "detached" for several`;
    case "named_empty_agent_id":
      return `targets[${error.target}] names an agent with a blank agent_id`;
    case "ad_hoc_empty_prompt":
      return `targets[${error.target}] is an ad-hoc agent with a blank system_prompt`;
    case "empty_message":
      return `targets[${error.target}] has a message with nothing in it`;
    case "empty_runner_kind": {
      const where = error.target === undefined ? "the invocation" : `targets[${error.target}]`;
      return `${where} forces a remote executor whose runner has a blank kind`;
    }
    case "empty_tool_name":
      return 'the tool policy "exact" lists a blank tool name';
    case "shared_needs_parent":
      return 'context "shared" hands over the caller\'s own task, and there is no calling task';
    case "shared_needs_one_target":
      return `context "shared" takes exactly one target, got ${error.got}`;
    case "shared_needs_named_agent":
      return 'context "shared" needs a named agent, not an ad-hoc one';
    case "shared_not_detached":
      return 'context "shared" cannot be detached: the caller\'s run ends with it';
    case "shared_not_remote":
      return 'context "shared" cannot run remotely: the task stays in this orchestrator';
  }
}

type TargetCheck = (target: Target, index: number) => InvocationError | undefined;

function firstError(targets: readonly Target[], check: TargetCheck): InvocationError | undefined {
  for (const [index, target] of targets.entries()) {
    const error = check(target, index);
    if (error !== undefined) return error;
  }
  return undefined;
}

function agentError({ agent }: Target, target: number): InvocationError | undefined {
  if (agent.type === "named") return isBlank(agent.agent_id) ? { kind: "named_empty_agent_id", target } : undefined;
  return isBlank(agent.system_prompt) ? { kind: "ad_hoc_empty_prompt", target } : undefined;
}

function messageError({ message, executor }: Target, target: number): InvocationError | undefined {
  if (isBlankMessage(message)) return { kind: "empty_message", target };
  return hasBlankRunner(executor) ? { kind: "empty_runner_kind", target } : undefined;
}

function policyError({ executor, tools }: Invocation): InvocationError | undefined {
  if (hasBlankRunner(executor)) return { kind: "empty_runner_kind" };
  return tools.kind === "exact" && tools.tools.some(isBlank) ? { kind: "empty_tool_name" } : undefined;
}

function handoverError({ targets, join, executor }: Invocation, parent: boolean): InvocationError | undefined {
  if (!parent) return { kind: "shared_needs_parent" };
  const [target] = targets;
  if (target === undefined || targets.length !== 1) return { kind: "shared_needs_one_target", got: targets.length };
  if (target.agent.type !== "named") return { kind: "shared_needs_named_agent" };
  if (join === "detached") return { kind: "shared_not_detached" };
  return isForcedRemote(target.executor ?? executor) ? { kind: "shared_not_remote" } : undefined;
}

function isForcedRemote(hint: ExecutorHint): boolean {
  return hint.kind === "force" && hint.type === "remote";
}

function hasBlankRunner(hint: ExecutorHint | undefined): boolean {
  return hint?.kind === "force" && hint.type === "remote" && isBlank(hint.runner.kind);
}

function isBlank(text: string): boolean {
  return text.trim() === "";
}
