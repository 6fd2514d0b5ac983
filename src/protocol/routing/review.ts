// The review envelope: what a reviewer found in the work on a task, and the gate it chose.

import { z } from "zod";

/** What the reviewer says of one point that it was asked to judge; a field of ours. */
const Point = z.strictObject({
  id: z.string(),
  met: z.boolean(),
  why: z.string(),
  /** The file of the change that shows it. */
  where: z.string(),
});

export const Review = z.strictObject({
  from: z.string().optional(),
  to: z.string().optional(),
  review: z.strictObject({
    task: z.string().optional(),
    conf: z.number().optional(),
    findings: z.array(z.string()).optional(),
    required: z.array(z.string()).optional(),
    points: z.array(Point).optional(),
    /** As written. A template has the menu `approve | revise | escalate`, a review one of the three. */
    gate: z.string().optional(),
  }),
});
export type Review = z.infer<typeof Review>;
