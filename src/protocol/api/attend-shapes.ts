// What a process of a program and a daemon say to each other while the process attends a run: calls to make, and what became of them.

import { z } from "zod";

import { Failure } from "../failure.ts";
import { TaskId } from "../ids.ts";
import { Effort } from "../invocation/call-settings.ts";
import { workflowOrders, workflowReports } from "../invocation/workflow-messages.ts";
import { Usage } from "../task/budget.ts";
import { LiveChannel } from "../task/event.ts";
import { CompleteMessage, Message } from "../task/message.ts";

/** The id that a process gives itself, once in its life. */
const ProcessId = z.string().regex(/^[A-Za-z0-9_-]{16,64}$/, "must be 16 to 64 letters, digits, _ and -");
/** A call, by the idempotency key of its step. */
const call = z.string().min(1).max(1_000);
const names = z.array(z.string().min(1).max(200)).max(1_000);

/** The longest that a process may be silent before its calls are given up. */
export const attendLeaseMs = 30_000;

export const AttendedModelRequest = z.strictObject({
  model: z.string(),
  agent: z.string(),
  system: z.string(),
  messages: z.array(CompleteMessage),
  tools: z.array(
    z.strictObject({ name: z.string(), description: z.string(), parameters: z.record(z.string(), z.unknown()) }),
  ),
  format: z.enum(["native", "fenced"]).exactOptional(),
  maxOutputTokens: z.int().positive().exactOptional(),
  effort: Effort.exactOptional(),
  temperature: z.number().exactOptional(),
  providerOptions: z.record(z.string(), z.unknown()).exactOptional(),
  waits: z.boolean().exactOptional(),
});
export type AttendedModelRequest = z.infer<typeof AttendedModelRequest>;

const Count = z.int().nonnegative();

export const AttendedModelReply = z.strictObject({
  message: Message,
  usage: Usage,
  finish: z.enum(["stop", "tools", "length", "refusal", "empty"]),
  malformed: z.array(z.strictObject({ tool_name: z.string(), text: z.string(), message: z.string() })).exactOptional(),
  contextTokens: Count.exactOptional(),
  contextLimit: Count.exactOptional(),
  cached: z.strictObject({ read: Count, written: Count }).exactOptional(),
});

/** To the process. The same call may come again after the daemon was restarted: it is the same call, and is not made twice. */
export const AttendOrder = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("tool"), call, name: z.string(), input: z.unknown() }),
  z.strictObject({ kind: z.literal("model"), call, name: z.string(), request: AttendedModelRequest }),
  z.strictObject({
    kind: z.literal("workflow"),
    call,
    name: z.string(),
    input: z.unknown(),
    task: TaskId,
    attempt: z.int(),
  }),
  /** Nobody needs the call any more; with `op`, the body of a workflow's step. */
  z.strictObject({ kind: z.literal("abort"), call, op: z.int().exactOptional() }),
  z.strictObject({ call, ...workflowOrders.done }),
  z.strictObject({ call, ...workflowOrders.refused }),
  z.strictObject({ call, ...workflowOrders.body }),
]);
export type AttendOrder = z.infer<typeof AttendOrder>;

/** From the process. */
export const AttendNotice = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("result"), call, value: z.unknown() }),
  z.strictObject({ kind: z.literal("failed"), call, failure: Failure }),
  /** Text on its way; with `op`, of the body of a workflow's step. */
  z.strictObject({
    kind: z.literal("live"),
    call,
    channel: LiveChannel,
    text: z.string(),
    op: z.int().exactOptional(),
  }),
  /** A call of a model is made again, and its text begins anew. */
  z.strictObject({
    kind: z.literal("again"),
    call,
    again: z.strictObject({ reason: z.string(), waitMs: z.number(), next: z.int(), most: z.int() }),
  }),
  z.strictObject({ call, ...workflowReports.operation }),
  z.strictObject({ call, ...workflowReports.body_done }),
  z.strictObject({ call, ...workflowReports.body_failed }),
]);
export type AttendNotice = z.infer<typeof AttendNotice>;

export const AttendRequest = z.strictObject({
  process: ProcessId,
  /** What the process has, by name. */
  has: z.strictObject({ tools: names, models: names, workflows: names }),
  /** The last order that it has got, and the life of the daemon in which it got it. */
  after: Count.default(0),
  life: z.string().max(100).optional(),
  /** How long the reply may take when there is nothing to do. */
  wait_ms: z.int().nonnegative().max(20_000).default(0),
});
export type AttendRequest = z.infer<typeof AttendRequest>;

export const AttendReply = z.strictObject({
  life: z.string(),
  /** How long the process may be silent before its calls are given up. */
  lease_ms: z.int().positive(),
  /** The run has ended, and there will be nothing more to do. */
  over: z.boolean(),
  orders: z.array(z.strictObject({ number: z.int().positive(), order: AttendOrder })),
});
export type AttendReply = z.infer<typeof AttendReply>;

export const AttendReport = z.strictObject({
  process: ProcessId,
  notices: z.array(AttendNotice).max(1_000),
  /** The process attends the run no longer; what it has not ended is given up. */
  leaves: z.boolean().default(false),
});
export type AttendReport = z.infer<typeof AttendReport>;

export const AttendReported = z.strictObject({
  /** Calls of which nobody waits any more to hear: they were given up, or have ended. */
  late: z.array(z.string()),
  /**
   * Of the daemon that says so; empty when the run has ended. A call that was given in another life and is late may still be asked
   * for again, except that of a workflow.
   */
  life: z.string(),
});
export type AttendReported = z.infer<typeof AttendReported>;
