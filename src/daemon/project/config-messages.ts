// What Tutti and the process that runs a config say to each other.

import { z } from "zod";

import { Failure } from "../../protocol/failure.ts";
import { Effect } from "../../protocol/invocation/approval-policy.ts";
import { workflowOrders, workflowReports } from "../../protocol/invocation/workflow-messages.ts";

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
  z.strictObject({ id: z.int(), ...workflowOrders.done }),
  z.strictObject({ id: z.int(), ...workflowOrders.refused }),
  z.strictObject({ id: z.int(), ...workflowOrders.body }),
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
  z.strictObject({ id: z.int(), ...workflowReports.operation }),
  z.strictObject({ id: z.int(), ...workflowReports.body_done }),
  z.strictObject({ id: z.int(), ...workflowReports.body_failed }),
  z.strictObject({ kind: z.literal("pong") }),
]);
export type ConfigReply = z.infer<typeof ConfigReply>;

/** A reply about one call or workflow. */
export type CallReply = Extract<ConfigReply, { readonly id: number }>;
