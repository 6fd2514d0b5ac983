// The names by which work is addressed to operators.
import { z } from "zod";

/** Stands for any connected operator, so no operator can have this name. */
export const anyOperator = "any";

/** Whom a request is for: a name an operator joined with, the sid of a session, or `any`. */
export const OperatorName = z
  .string()
  .trim()
  .min(1)
  .max(64)
  .refine((text) => !/\p{Cc}/u.test(text), "must be one line");
export type OperatorName = z.infer<typeof OperatorName>;
