// The review envelope: what a reviewer found in the work on a task, and the gate it chose.

import { z } from "zod";

export const Review = z.strictObject({
  from: z.string().optional(),
  to: z.string().optional(),
  review: z.strictObject({
    task: z.string().optional(),
    conf: z.number().optional(),
    findings: z.array(z.string()).optional(),
    required: z.array(z.string()).optional(),
    /** As written. A template has the menu `approve | revise | escalate`, a review one of the three. */
    gate: z.string().optional(),
  }),
});
export type Review = z.infer<typeof Review>;
