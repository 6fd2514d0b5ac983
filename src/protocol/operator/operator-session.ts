// The bodies of the operator routes: joining as an operator, and reading who has joined.
import { z } from "zod";
import { Time } from "../ids.ts";
import { anyOperator, OperatorName } from "./operator-name.ts";

export const OperatorSid = z
  .string()
  .regex(/^op-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/, "must be `op-` and a uuid");
export type OperatorSid = z.infer<typeof OperatorSid>;

/** A name under which work can be addressed to an operator; it grants nothing. */
const role = OperatorName.refine(
  (text) => text !== anyOperator && !text.startsWith("op-"),
  "`any` and names that begin with `op-` have a meaning of their own; choose another",
);

/** POST /v1/operators; an empty body is an operator without names. */
export const JoinOperator = z.object({ roles: z.array(role).max(32).default([]) });
export type JoinOperator = z.infer<typeof JoinOperator>;

/** The token is shown this once; only its digest is kept. */
export const JoinedOperator = z.object({
  sid: OperatorSid,
  token: z.string().regex(/^ot-[0-9a-f]{32}$/, "must be `ot-` and 32 hex digits"),
  roles: z.array(z.string()),
});
export type JoinedOperator = z.infer<typeof JoinedOperator>;

/** 409 of POST /v1/operators: a name belongs to one operator at a time, and a request gets all its names or none. */
export const RolesConflict = z.object({ error: z.literal("roles conflict"), conflicts: z.array(z.string()).min(1) });
export type RolesConflict = z.infer<typeof RolesConflict>;

/** POST /v1/operators/:sid/ticket: good for one connection of this session, for half a minute. */
export const OperatorTicket = z.object({
  ticket: z.string().regex(/^ti-[0-9a-f]{32}$/, "must be `ti-` and 32 hex digits"),
  expires_at: Time,
});
export type OperatorTicket = z.infer<typeof OperatorTicket>;

/** GET /v1/operators/:sid */
export const OperatorInfo = z.object({
  sid: OperatorSid,
  roles: z.array(z.string()),
  connected: z.boolean(),
  /** Requests that wait for it, sent or not. */
  pending: z.int().nonnegative(),
  joined_at: Time,
  /** When it was last heard of, as far as that was recorded. */
  last_seen: Time,
});
export type OperatorInfo = z.infer<typeof OperatorInfo>;
