// What travels on the operator routes: joining as an operator, and reading who is joined.
import { z } from "zod";

export const OperatorSid = z
  .string()
  .regex(/^op-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/, "must be `op-` and a uuid");
export type OperatorSid = z.infer<typeof OperatorSid>;

/** A name under which work can be addressed to an operator; it grants nothing. */
const role = z
  .string()
  .trim()
  .min(1)
  .max(64)
  .refine((text) => !/\p{Cc}/u.test(text), "must be one line");

/** POST /v1/operators; an empty body is an operator without names. */
export const JoinOperator = z.object({ roles: z.array(role).max(32).default([]) });
export type JoinOperator = z.infer<typeof JoinOperator>;

/** The token is shown this once; only its digest is kept. */
export const JoinedOperator = z.object({
  sid: OperatorSid,
  token: z.string().regex(/^[0-9a-f]{32}$/, "must be 32 hex digits"),
  roles: z.array(z.string()),
});
export type JoinedOperator = z.infer<typeof JoinedOperator>;

/** 409 of POST /v1/operators: a name belongs to one operator at a time, and a request gets all its names or none. */
export const RolesConflict = z.object({ error: z.literal("roles conflict"), conflicts: z.array(z.string()).min(1) });
export type RolesConflict = z.infer<typeof RolesConflict>;

/** GET /v1/operators/:sid */
export const OperatorInfo = z.object({ sid: OperatorSid, roles: z.array(z.string()), connected: z.boolean() });
export type OperatorInfo = z.infer<typeof OperatorInfo>;
