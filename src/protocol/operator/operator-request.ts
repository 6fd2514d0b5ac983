// What is stored with a wait on an operator: whom it is for and what it asks, so that it can be sent again after a restart.
import { z } from "zod";
import { Usage } from "../task/budget.ts";
import { type AttemptLives, defaultLives } from "./lease.ts";
import { OperatorName } from "./operator-name.ts";

const about = { agent: z.string(), attempt: z.int().min(1).max(0xffff_ffff) };

/** The details of a wait labelled `operator.<kind>`. */
export const OperatorRequest = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("hook_before"), operator: OperatorName, ...about }),
  z.strictObject({
    kind: z.literal("spawn"),
    operator: OperatorName,
    ...about,
    /** The lives of the worker's rights; the defaults when absent. */
    token_ms: z.int().optional(),
    lease_ms: z.int().optional(),
  }),
  /** Not sent to anybody: the spawned worker settles it with its result. */
  z.strictObject({ kind: z.literal("result"), ...about }),
]);
export type OperatorRequest = z.infer<typeof OperatorRequest>;

/** The lives of the rights that go out with a spawn. */
export function livesOf(spawn: Extract<OperatorRequest, { kind: "spawn" }>): AttemptLives {
  const { token_ms = defaultLives.tokenMs, lease_ms = defaultLives.leaseMs } = spawn;
  return { tokenMs: token_ms, leaseMs: lease_ms };
}

/** What settles a `hook_before`. */
export const HookVerdict = z.strictObject({ ok: z.boolean(), reason: z.string().optional() });
export type HookVerdict = z.infer<typeof HookVerdict>;

/** What settles a `spawn`; read by `spawnVerdict`. */
export const SpawnAnswer = z.strictObject({ value: z.unknown(), ok: z.boolean(), error: z.string().optional() });
export type SpawnAnswer = z.infer<typeof SpawnAnswer>;

/** What settles a `result`. The digest tells the same result posted again from another one. */
export const PostedResult = z.strictObject({
  value: z.unknown(),
  ok: z.boolean(),
  digest: z.string(),
  usage: Usage.optional(),
});
export type PostedResult = z.infer<typeof PostedResult>;

/** A worker's question on its way to the task, as a part of a message. */
export const WorkerAskPart = z.strictObject({
  worker_ask: z.strictObject({
    attempt: z.int(),
    /** The key of the wait that will be opened. */
    wait: z.string(),
    /** Tells the same question asked again from another one. */
    digest: z.string(),
    question: z.unknown(),
  }),
});
export type WorkerAskPart = z.infer<typeof WorkerAskPart>;

/** A worker's report of what it used, on its way to the task, as a part of a message. */
export const WorkerUsagePart = z.strictObject({ worker_usage: Usage });
export type WorkerUsagePart = z.infer<typeof WorkerUsagePart>;

/** Tells a task, as a part of a message, that the worker of this attempt has lost its rights. */
export const RightsEndedPart = z.strictObject({ rights_ended: z.strictObject({ attempt: z.int() }) });
export type RightsEndedPart = z.infer<typeof RightsEndedPart>;

/** Tells a task, as a part of a message, that its operator reports a failure after it had acknowledged the spawn. */
export const OperatorFailedPart = z.strictObject({
  operator_failed: z.strictObject({ attempt: z.int(), answer: SpawnAnswer }),
});
export type OperatorFailedPart = z.infer<typeof OperatorFailedPart>;

/** The details of the ask that is made from it. */
export const WorkerAskDetails = z.object({ worker: z.object({ digest: z.string() }) });
