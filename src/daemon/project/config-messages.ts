// What Tutti and the process that runs a config say to each other.

import { z } from "zod";

import { type ErrorCode, errorTable, TuttiError } from "../../protocol/error.ts";
import { Failure } from "../../protocol/failure.ts";
import { Effect } from "../../protocol/invocation/approval-policy.ts";

export const ToolDescription = z.strictObject({
  name: z.string(),
  description: z.string(),
  parameters: z.record(z.string(), z.unknown()),
  effects: z.array(Effect),
  repeatable: z.boolean(),
  timeout_ms: z.int().positive(),
});
export type ToolDescription = z.infer<typeof ToolDescription>;

/** `call` is how the process is asked to run a task, whose input is a task; absent for a workflow. */
export const RunnerDescription = z.strictObject({
  kind: z.string(),
  runtime: z.string(),
  description: z.string(),
  call: ToolDescription.optional(),
});
export type RunnerDescription = z.infer<typeof RunnerDescription>;

/** What a workflow in the process asks Tutti to do for it. */
export const WorkflowOperation = z.discriminatedUnion("do", [
  /** The body runs in the process, when Tutti asks for it. */
  z.strictObject({
    do: z.literal("step"),
    key: z.string(),
    repeatable: z.boolean(),
    timeout_ms: z.number().positive().optional(),
    input: z.unknown().optional(),
  }),
  z.strictObject({ do: z.literal("sleep"), key: z.string(), ms: z.number().nonnegative() }),
  z.strictObject({ do: z.enum(["now", "id", "receive"]), key: z.string() }),
  z.strictObject({
    do: z.literal("agents"),
    key: z.string(),
    targets: z.array(z.strictObject({ agent: z.string(), prompt: z.string() })),
  }),
  z.strictObject({ do: z.literal("workflow"), key: z.string(), name: z.string(), input: z.unknown() }),
  z.strictObject({
    do: z.literal("wait"),
    key: z.string(),
    ask: z.strictObject({
      kind: z.enum(["question", "approval"]),
      question: z.string(),
      details: z.unknown().optional(),
      choices: z.array(z.string()).optional(),
    }),
    within: z.number().positive().optional(),
  }),
]);
export type WorkflowOperation = z.infer<typeof WorkflowOperation>;

/** To the process. `files` are the files it may load, each with the SHA-256 of its content. */
export const ConfigRequest = z.discriminatedUnion("kind", [
  z.strictObject({
    kind: z.literal("load"),
    file: z.string(),
    files: z.record(z.string(), z.string()),
    /** Names that tools of the config may not have. */
    taken: z.array(z.string()),
  }),
  z.strictObject({
    kind: z.literal("call"),
    id: z.int(),
    /** Tools and runners have names of their own. */
    of: z.enum(["tools", "runners"]),
    name: z.string(),
    input: z.unknown(),
    key: z.string(),
    roots: z.array(z.string()),
  }),
  /** Of a call or of a workflow; with `op`, of the body of a step. */
  z.strictObject({ kind: z.literal("abort"), id: z.int(), op: z.int().optional() }),
  z.strictObject({
    kind: z.literal("run"),
    id: z.int(),
    name: z.string(),
    input: z.unknown(),
    task: z.string(),
    attempt: z.int(),
    agent: z.string(),
  }),
  /** The outcome of an operation. */
  z.strictObject({ kind: z.literal("done"), id: z.int(), op: z.int(), value: z.unknown() }),
  z.strictObject({ kind: z.literal("refused"), id: z.int(), op: z.int(), failure: Failure }),
  /** Asks for the body of a step. `step` is its idempotency key. */
  z.strictObject({ kind: z.literal("body"), id: z.int(), op: z.int(), step: z.string() }),
  z.strictObject({ kind: z.literal("ping") }),
]);
export type ConfigRequest = z.infer<typeof ConfigRequest>;

/** From the process. */
export const ConfigReply = z.discriminatedUnion("kind", [
  /** `config` is what the file exports, without tools and runners; `issues` says what is wrong with these. */
  z.strictObject({
    kind: z.literal("loaded"),
    config: z.unknown(),
    tools: z.array(ToolDescription),
    runners: z.array(RunnerDescription),
    issues: z.array(z.string()),
  }),
  z.strictObject({ kind: z.literal("unusable"), message: z.string() }),
  z.strictObject({ kind: z.literal("progress"), id: z.int(), op: z.int().optional(), text: z.string() }),
  z.strictObject({ kind: z.literal("result"), id: z.int(), value: z.unknown() }),
  z.strictObject({ kind: z.literal("failed"), id: z.int(), failure: Failure }),
  z.strictObject({ kind: z.literal("operation"), id: z.int(), op: z.int(), operation: WorkflowOperation }),
  z.strictObject({ kind: z.literal("body_done"), id: z.int(), op: z.int(), value: z.unknown() }),
  z.strictObject({ kind: z.literal("body_failed"), id: z.int(), op: z.int(), failure: Failure }),
  z.strictObject({ kind: z.literal("pong") }),
]);
export type ConfigReply = z.infer<typeof ConfigReply>;

/** A reply about one call or workflow. */
export type CallReply = Extract<ConfigReply, { readonly id: number }>;

export function errorOf({ code, message, retry, details }: Failure): TuttiError {
  return new TuttiError(isErrorCode(code) ? code : "step_failed", message, {
    retry,
    ...(details === undefined ? {} : { details }),
  });
}

function isErrorCode(code: string): code is ErrorCode {
  return Object.hasOwn(errorTable, code);
}
