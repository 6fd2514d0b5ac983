// One target of a fan-out, an agent and its prompt, and the types of what all targets give back.

import type { AgentTool, AnyAgent, CodeAgent } from "./code-agent.ts";
import type { RunOutcome } from "./run-outcome.ts";

export interface Target<Output = unknown> {
  readonly agent: CodeAgent<Output>;
  readonly prompt: string;
}

/** A target whose type does not matter where it is named. */
export type AnyTarget = Pick<Target, "agent" | "prompt">;

/** A target in a workflow that only names its agent; what it gives back is not known to the types. */
export interface NamedTarget {
  readonly agent: string;
  readonly prompt: string;
}

/** The outcome of each target, in the order of the targets. */
export type OutcomesOf<Targets extends readonly (AnyTarget | NamedTarget)[]> = {
  readonly [Index in keyof Targets]: RunOutcome<Targets[Index] extends Target<infer Output> ? Output : unknown>;
};

/** The result of each target, in the order of the targets. */
export type OutputsOf<Targets extends readonly AnyTarget[]> = {
  readonly [Index in keyof Targets]: Targets[Index] extends Target<infer Output> ? Output : never;
};

export function target<Output, Tools extends readonly AgentTool[], Name extends string>(
  agent: CodeAgent<Output, Tools, Name>,
  prompt: string,
): Target<Output>;
/** By its name, in a workflow. */
export function target(agent: string, prompt: string): NamedTarget;
export function target(
  agent: AnyAgent | string,
  prompt: string,
): { readonly agent: AnyAgent | string; readonly prompt: string } {
  return { agent, prompt };
}
