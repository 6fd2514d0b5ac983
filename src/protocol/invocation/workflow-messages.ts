// What a workflow in another process and Tutti say to each other: the operations that it asks for, and the bodies of its steps.

import { z } from "zod";

import { Failure } from "../failure.ts";

/** What a workflow asks Tutti to do for it. */
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

const op = z.int();

/** From the process. `op` is the number that it gave the operation. */
export const workflowReports = {
  operation: { kind: z.literal("operation"), op, operation: WorkflowOperation },
  body_done: { kind: z.literal("body_done"), op, value: z.unknown() },
  body_failed: { kind: z.literal("body_failed"), op, failure: Failure },
};

/** To the process. */
export const workflowOrders = {
  /** The outcome of an operation. */
  done: { kind: z.literal("done"), op, value: z.unknown() },
  refused: { kind: z.literal("refused"), op, failure: Failure },
  /** Asks for the body of a step. `step` is its idempotency key. */
  body: { kind: z.literal("body"), op, step: z.string() },
};

const WorkflowReport = z.discriminatedUnion("kind", [
  z.object(workflowReports.operation),
  z.object(workflowReports.body_done),
  z.object(workflowReports.body_failed),
  /** Text of the body of a step, to be shown. */
  z.object({ kind: z.literal("progress"), op, text: z.string() }),
]);
export type WorkflowReport = z.infer<typeof WorkflowReport>;

const WorkflowOrder = z.discriminatedUnion("kind", [
  z.object(workflowOrders.done),
  z.object(workflowOrders.refused),
  z.object(workflowOrders.body),
  /** Of the body of a step; without `op`, of the workflow. */
  z.object({ kind: z.literal("abort"), op: op.optional() }),
]);
export type WorkflowOrder = z.infer<typeof WorkflowOrder>;
