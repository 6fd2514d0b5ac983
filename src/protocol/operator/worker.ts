// The bodies of the worker routes (prompt, result, submit, events, ask) and the reasons for which they refuse.
import { z } from "zod";
import { Time } from "../ids.ts";
import { queryBoolean } from "../query-boolean.ts";
import { CompleteMessage } from "../task/message.ts";
import { tokenRefusals } from "./capability-token.ts";

const attempt = z.int().min(1).max(0xffff_ffff);

/** So large that no honest report reaches it, and so small that the sum of all reports of an attempt stays exact. */
const largestReport = 100_000_000_000;
const used = z.int().min(0).max(largestReport);

/** What a worker says that it has used. It is settled against the budget of its task. */
export const WorkerUsage = z.strictObject({
  input_tokens: used.default(0),
  output_tokens: used.default(0),
  /** Millionths of a US dollar; null or absent if the price is not known. */
  money_micro_usd: used.nullable().default(null),
});
export type WorkerUsage = z.infer<typeof WorkerUsage>;

/** GET /v1/worker/prompt */
export const WorkerPromptQuery = z.object({ task_id: z.string().min(1) });
export type WorkerPromptQuery = z.infer<typeof WorkerPromptQuery>;

export const WorkerPrompt = z.object({
  task_id: z.string(),
  attempt,
  agent: z.string(),
  system: z.string().optional(),
  prompt: z.string(),
  /** What was said before, when the task inherits a conversation; oldest first. */
  messages: z.array(CompleteMessage).optional(),
  /** Where the work is to be done: the first of the roots. Absent if the task may touch no folder. */
  folder: z.string().optional(),
  /** The folders that the task may touch, with everything below them. */
  roots: z.array(z.string()),
  limits: z.object({
    /** Until when a result is waited for, in Unix milliseconds. */
    deadline: Time,
    /** What the task and everything it shares its budget with may use in all. */
    tokens: z.int(),
    money_micro_usd: z.int(),
  }),
  lease: z.object({
    /** Until when this token or handle is valid, in Unix milliseconds. */
    expires_at: Time,
    /** For how long a renewal makes it valid, and how long the worker may be silent before its first progress post. */
    token_ms: z.int(),
    /** How long the worker may be silent after a progress post. */
    lease_ms: z.int(),
    /** The method and path that renew both. */
    renew: z.string(),
  }),
});
export type WorkerPrompt = z.infer<typeof WorkerPrompt>;

/**
 * POST /v1/worker/result. The token says which attempt this is; a body that names another one is refused as
 * `wrong_attempt`.
 */
export const WorkerResult = z.object({
  task_id: z.string().min(1),
  value: z.unknown(),
  ok: z.boolean().default(true),
  attempt: attempt.optional(),
  /** What the work used since the last report of usage. */
  usage: WorkerUsage.optional(),
});
export type WorkerResult = z.infer<typeof WorkerResult>;

/** The reply of both routes that take a result. */
export const WorkerRecorded = z.strictObject({
  recorded: z.literal(true),
  /** The same result was recorded before; nothing changed. */
  already: z.boolean(),
});
export type WorkerRecorded = z.infer<typeof WorkerRecorded>;

const queryAmount = z.coerce.number<number>().int().min(0).max(largestReport);

/** POST /v1/worker/submit: the body is the raw result; `verdict` is another spelling of `ok` and may not contradict it. */
export const WorkerSubmitQuery = z
  .object({
    ok: queryBoolean.optional(),
    verdict: z.enum(["pass", "blocked"]).optional(),
    /** What the work used since the last report of usage. */
    input_tokens: queryAmount.optional(),
    output_tokens: queryAmount.optional(),
    money_micro_usd: queryAmount.optional(),
  })
  .refine(
    ({ ok, verdict }) => ok === undefined || verdict === undefined || ok === (verdict === "pass"),
    "ok and verdict contradict each other; send one of them",
  );
export type WorkerSubmitQuery = z.infer<typeof WorkerSubmitQuery>;

export function submittedOk({ ok, verdict }: WorkerSubmitQuery): boolean {
  return ok !== false && verdict !== "blocked";
}

/** Undefined if the query says nothing about usage. */
export function submittedUsage(query: WorkerSubmitQuery): WorkerUsage | undefined {
  const { input_tokens, output_tokens, money_micro_usd } = query;
  if (input_tokens === undefined && output_tokens === undefined && money_micro_usd === undefined) return undefined;
  return WorkerUsage.parse({ input_tokens, output_tokens, money_micro_usd });
}

/** POST /v1/worker/events: kept in order; any accepted post renews the lease. */
export const WorkerEvent = z.discriminatedUnion("type", [
  z.strictObject({
    type: z.literal("progress"),
    text: z.string().min(1).max(8192),
    /** How much is done, 0 to 1. */
    fraction: z.number().min(0).max(1).optional(),
  }),
  /** A part of the result that is worth seeing before the rest. */
  z.strictObject({ type: z.literal("partial"), value: z.unknown() }),
  /** What was used since the last report of usage. */
  WorkerUsage.extend({ type: z.literal("usage") }),
]);
export type WorkerEvent = z.infer<typeof WorkerEvent>;

export const WorkerEvents = z.strictObject({
  events: z.array(WorkerEvent).min(1).max(100),
  /** The same key again is the same post: it is accepted, and kept once. */
  key: z.string().min(1).max(128).optional(),
});
export type WorkerEvents = z.infer<typeof WorkerEvents>;

/**
 * The token is a new one for the same attempt; an older one is valid until its own expiry. A handle that the call was made
 * with is valid until `expires_at` as well.
 */
const RenewedRights = z.strictObject({
  capability_token: z.string(),
  /** Unix milliseconds. */
  expires_at: z.int(),
});
export type RenewedRights = z.infer<typeof RenewedRights>;

export const WorkerEventsAccepted = RenewedRights.extend({ accepted: z.int().min(1) });
export type WorkerEventsAccepted = z.infer<typeof WorkerEventsAccepted>;

/** A question with what helps to answer it. The answer is text unless `answer_schema` says otherwise. */
export const WorkerQuestion = z.strictObject({
  question: z.string().min(1).max(8192),
  details: z.unknown().optional(),
  choices: z.array(z.string().min(1)).min(1).max(64).optional(),
  answer_schema: z.record(z.string(), z.unknown()).optional(),
});
export type WorkerQuestion = z.infer<typeof WorkerQuestion>;

/** POST /v1/worker/ask: the same key again is the same ask, so a worker polls by repeating the request. */
export const WorkerAsk = z.strictObject({
  key: z.string().min(1).max(128),
  /** Text or a `WorkerQuestion`; any other value is shown as JSON. */
  question: z.unknown(),
  /** How long this request may stay open for an answer before it says `waiting`. */
  wait_ms: z.int().min(0).max(60_000).default(0),
});
export type WorkerAsk = z.infer<typeof WorkerAsk>;

export const WorkerAskAnswer = z.discriminatedUnion("state", [
  RenewedRights.extend({ state: z.literal("waiting") }),
  RenewedRights.extend({ state: z.literal("answered"), value: z.unknown() }),
  RenewedRights.extend({ state: z.literal("expired") }),
]);
export type WorkerAskAnswer = z.infer<typeof WorkerAskAnswer>;

/** What became of a question, without the rights that the reply renews. */
export type WorkerAskState =
  | { readonly state: "waiting" }
  | { readonly state: "answered"; readonly value: unknown }
  | { readonly state: "expired" };

/** 401: the bearer is missing or not valid; 403: not with this token; 409: another attempt or answer counts; 410: it has ended; 413: more than an attempt may post; 422: the question cannot be asked. */
export const workerRefusals = {
  no_bearer: { status: 401, message: "send the header `Authorization: Bearer <worker handle or token>`" },
  unknown_handle: { status: 401, message: "there is no such worker handle; send it exactly as it was handed out" },
  malformed: { status: 401, message: tokenRefusals.malformed },
  bad_signature: { status: 401, message: tokenRefusals.bad_signature },
  expired: { status: 401, message: tokenRefusals.expired },
  key_revoked: {
    status: 401,
    message: "the API key through which this worker got its rights was revoked; stop, nothing posted is kept",
  },
  verb_not_granted: { status: 403, message: tokenRefusals.verb_not_granted },
  wrong_task: { status: 403, message: tokenRefusals.wrong_task },
  wrong_attempt: { status: 409, message: tokenRefusals.wrong_attempt },
  offered_again: {
    status: 409,
    message: "the operator this was offered to left, and the task was offered to another; stop, this offer is over",
  },
  already_posted: {
    status: 409,
    message: "this attempt has its result; the first one stands and this one changes nothing",
  },
  key_reused: {
    status: 409,
    message: "this key was used with other content, which stands; use a new key for something new",
  },
  bad_answer_schema: {
    status: 422,
    message: "the answer_schema cannot be used; ask again under another key, with a simpler schema or without one",
  },
  posted_too_much: {
    status: 413,
    message:
      "this attempt has posted as many bytes as it may; go on without progress and questions, and post the result",
  },
  too_many_events: {
    status: 413,
    message: "this attempt has posted as many events as it may; go on without progress, and post the result",
  },
  too_many_asks: {
    status: 413,
    message: "this attempt has asked as many questions as it may; decide without asking, and post the result",
  },
  attempt_over: { status: 410, message: "this attempt has ended; stop, nothing posted to it is kept" },
} as const;
export type WorkerRefusalReason = keyof typeof workerRefusals;

const reasons = Object.keys(workerRefusals).filter((key): key is WorkerRefusalReason => key in workerRefusals);

export const WorkerRefusal = z.object({ error: z.enum(reasons), message: z.string() });
export type WorkerRefusal = z.infer<typeof WorkerRefusal>;
