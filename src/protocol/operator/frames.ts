// The frames of an operator socket, in both directions. Unknown fields are ignored, so either side may be newer.
import { z } from "zod";
import { Time } from "../ids.ts";

/** A client that offers this subprotocol also gets `error` frames; one that does not sees only the four others. */
export const operatorSubprotocol = "tutti.v1";

/** 1-based. */
const attempt = z.int().min(1).max(0xffff_ffff);
const requestFields = { req_id: z.string(), parent_req_id: z.string().optional(), task_id: z.string() };
/** Fields of every request that waits for a reply: until when, and whether it was sent before. */
const asked = { deadline: Time.optional(), redelivered: z.literal(true).optional() };

export const AskFrame = z.object({ type: z.literal("ask"), ...requestFields, question: z.unknown(), ...asked });
export type AskFrame = z.infer<typeof AskFrame>;

export const HookBeforeFrame = z.object({
  type: z.literal("hook_before"),
  ...requestFields,
  agent: z.string(),
  attempt,
  ...asked,
});
export type HookBeforeFrame = z.infer<typeof HookBeforeFrame>;

/** Sent at most once and never answered, so it has no `redelivered`. */
export const HookAfterFrame = z.object({
  type: z.literal("hook_after"),
  ...requestFields,
  agent: z.string(),
  attempt,
  result: z.unknown(),
  /**
   * How the run ended; `result` is the content, the error, the reason, or who goes on. After `failed`, `stopped` and
   * `unknown` another attempt may follow. `unknown`: the work may have been done.
   */
  outcome: z.enum(["completed", "failed", "canceled", "stopped", "unknown", "handed_over"]).optional(),
});
export type HookAfterFrame = z.infer<typeof HookAfterFrame>;

/** Without the prompt on purpose: prompt and result travel over HTTP, between the worker and the daemon. */
export const SpawnFrame = z.object({
  type: z.literal("spawn"),
  ...requestFields,
  agent: z.string(),
  attempt,
  capability_token: z.string(),
  worker_handle: z.string().optional(),
  directive: z.string(),
  ...asked,
});
export type SpawnFrame = z.infer<typeof SpawnFrame>;

/** Why a client's frame could not be used. Whatever the code, a request that was open stays open. */
export const FrameFault = z.enum([
  "not_text",
  "too_large",
  "too_deep",
  "too_many_values",
  "bad_json",
  "number_out_of_range",
  "bad_frame",
  "unknown_type",
  "unknown_request",
  "wrong_kind",
  "invalid_answer",
  "already_answered",
  "late",
]);
export type FrameFault = z.infer<typeof FrameFault>;

export const ErrorFrame = z.object({
  type: z.literal("error"),
  req_id: z.string().optional(),
  code: FrameFault,
  message: z.string(),
});
export type ErrorFrame = z.infer<typeof ErrorFrame>;

export const ServerFrame = z.discriminatedUnion("type", [
  AskFrame,
  HookBeforeFrame,
  HookAfterFrame,
  SpawnFrame,
  ErrorFrame,
]);
export type ServerFrame = z.infer<typeof ServerFrame>;

export const AnswerFrame = z.object({ type: z.literal("answer"), req_id: z.string(), value: z.unknown() });
export type AnswerFrame = z.infer<typeof AnswerFrame>;

export const HookAckFrame = z.object({
  type: z.literal("hook_ack"),
  req_id: z.string(),
  ok: z.boolean(),
  reason: z.string().nullish(),
});
export type HookAckFrame = z.infer<typeof HookAckFrame>;

export const SpawnAckFrame = z.object({
  type: z.literal("spawn_ack"),
  req_id: z.string(),
  value: z.unknown().default(null),
  ok: z.boolean().default(true),
  error: z.string().nullish(),
});
export type SpawnAckFrame = z.infer<typeof SpawnAckFrame>;

export const ClientFrame = z.discriminatedUnion("type", [AnswerFrame, HookAckFrame, SpawnAckFrame]);
export type ClientFrame = z.infer<typeof ClientFrame>;
