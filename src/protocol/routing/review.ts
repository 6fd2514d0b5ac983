// The review envelope: a reviewer's finding about a task and the gate it asks for.

import { z } from "zod";

export const Review = z.strictObject({
  from: z.string().optional(),
  to: z.string().optional(),
  review: z.strictObject({
    task: z.string().optional(),
    conf: z.number().optional(),
    findings: z.array(z.string()).optional(),
    required: z.array(z.string()).optional(),
    /** As written: a template carries the menu `approve | revise | escalate`, an answer one of the three. */
    gate: z.string().optional(),
  }),
});
export type Review = z.infer<typeof Review>;
