// The flat form in which a model calls another agent, and its translation to an invocation.

import { z } from "zod";
import { adhoc, detached, named, single, type InvocationOptions } from "./invocation-builders.ts";
import type { Invocation } from "./invocation.ts";
import { issuesOf, type ReadIssue } from "../lenient-read.ts";
import { NonBlank } from "../non-blank.ts";

/**
 * Few fields, because models invent values for more: context, executor and tools come from the definition of the calling
 * agent. Providers that require every field send null for the absent ones.
 */
export const InvokeAgentInput = z
  .strictObject({
    prompt: NonBlank.describe("What the agent is to do, complete in itself."),
    agent: NonBlank.nullish().describe("The agent to call, by name."),
    system: NonBlank.nullish().describe("Instructions for an agent made for this call; not together with agent."),
    mode: z
      .enum(["wait", "background"])
      .nullish()
      .describe("wait (the default) returns the result, background returns a task id at once."),
  })
  .refine((input) => (input.agent ?? null) === null || (input.system ?? null) === null, {
    path: ["system"],
    message: "give either agent or system, not both",
  });
export type InvokeAgentInput = z.infer<typeof InvokeAgentInput>;

export type InvokeAgentReading =
  | { readonly ok: true; readonly input: InvokeAgentInput }
  | { readonly ok: false; readonly issues: readonly ReadIssue[] };

export function readInvokeAgent(value: unknown): InvokeAgentReading {
  const parsed = InvokeAgentInput.safeParse(value);
  return parsed.success ? { ok: true, input: parsed.data } : { ok: false, issues: issuesOf(parsed.error) };
}

/** `defaultAgent` is called when the model names none; the options come from the calling agent's definition. */
export function toInvocation(
  input: InvokeAgentInput,
  { defaultAgent, ...options }: InvocationOptions & { readonly defaultAgent: string },
): Invocation {
  const system = input.system ?? null;
  const target = system === null ? named(input.agent ?? defaultAgent, input.prompt) : adhoc(system, input.prompt);
  return input.mode === "background" ? detached([target], options) : single(target, options);
}
