// A check of a task, and who named it.

import { z } from "zod";

import { Check } from "../decision/decision.ts";

export const NamedCheck = z.strictObject({
  check: Check,
  /** A check that a model named runs only after an approval. */
  named_by: z.enum(["config", "person", "model"]),
  /** Relative to the top of the checkout; the folder of the project when absent. */
  cwd: z.string().optional(),
  /** Only a person or the project's config can allow it. */
  network: z.boolean().optional(),
  timeout_ms: z.int().positive().optional(),
  /** Whether the task itself has to make it succeed. What failed before the task began is otherwise not held against it. */
  is_criterion: z.boolean().default(true),
});
export type NamedCheck = z.infer<typeof NamedCheck>;
