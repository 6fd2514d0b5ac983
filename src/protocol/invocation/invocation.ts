// The request that creates tasks: which agents get which message, what they see, how the caller waits, where they run.

import { z } from "zod";
import { ExecutorHint } from "./executor.ts";
import { readLenient, type ReadIssue } from "../lenient-read.ts";
import { Message } from "../task/message.ts";
import { ToolPolicy, ToolsConfig } from "./tool-policy.ts";

/**
 * `instructions_overlay` is appended to a named agent's instructions for this run; `system_prompt` is appended to the
 * base agent's. Neither replaces anything.
 */
export const AgentRef = z.discriminatedUnion("type", [
  z.object({ type: z.literal("named"), agent_id: z.string(), instructions_overlay: z.string().optional() }),
  z.object({ type: z.literal("ad_hoc"), system_prompt: z.string(), tools: ToolsConfig.optional() }),
]);
export type AgentRef = z.infer<typeof AgentRef>;

/** A target's executor, when given, replaces the invocation's entirely. */
export const Target = z.object({ agent: AgentRef, message: Message, executor: ExecutorHint.optional() });
export type Target = z.infer<typeof Target>;

/** What the child sees: nothing but its message, a copy of the caller's history, or the caller's own task. */
export const ContextScope = z.enum(["independent", "inherited", "shared"]);
export type ContextScope = z.infer<typeof ContextScope>;

/** How the caller waits: for its one target, for all of them in input order, or not at all. */
export const Join = z.enum(["single", "all", "detached"]);
export type Join = z.infer<typeof Join>;

/** Once read, all five fields are present, so all are written. */
export const Invocation = z.object({
  targets: z.array(Target),
  context: ContextScope.default("independent"),
  join: Join.default("single"),
  executor: ExecutorHint.default(() => ({ kind: "auto" as const })),
  tools: ToolPolicy.default(() => ({ kind: "inherit" as const })),
});
export type Invocation = z.infer<typeof Invocation>;

export type InvocationReading =
  | { readonly ok: true; readonly invocation: Invocation; readonly warnings: readonly ReadIssue[] }
  | { readonly ok: false; readonly issues: readonly ReadIssue[] };

/** Checks the shape only; `validateInvocation` checks whether it makes sense. Never throws on a JSON value. */
export function readInvocation(value: unknown): InvocationReading {
  const read = readLenient(Invocation, value);
  return read.ok ? { ok: true, invocation: read.value, warnings: read.warnings } : read;
}
