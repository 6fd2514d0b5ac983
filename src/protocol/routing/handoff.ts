// The handoff envelope: what a sender says about a task when it passes the task on.

import { z } from "zod";

const Text = z.string().optional();
const List = z.array(z.string()).optional();
const Flag = z.boolean().optional();
const Any = z
  .json()
  .refine((value) => value !== null, "must not be null; leave the field out instead")
  .optional();

/** Every field may be absent. The policy names those that are required, which is checked when the handoff is routed. */
export const Handoff = z.strictObject({
  task_id: Text,
  from_model: Text,
  to_model: Text,
  objective: Text,
  scope: Text,
  constraints: List,
  current_state: Text,
  artifact_refs: List,
  expected_output: Any,
  acceptance_criteria: List,
  risks: List,
  fallback_triggers: List,
  /** Raises the threshold of the policy for this handoff, never lowers it. */
  confidence_threshold: z.number().optional(),
  conf: z.number().optional(),
  assumptions_made: List,
  open_questions: List,
  failed_checks: List,
  context: z.strictObject({ state: Text, refs: List }).optional(),
  out: z
    .strictObject({
      alternatives: Any,
      recommended: Flag,
      cite_sources: Flag,
      format: Text,
      diff_summary: Flag,
      files: List,
      tests: List,
      risks: Any,
      open_questions: Any,
    })
    .optional(),
  criteria: z.strictObject({ must: List, fail: List, optional: List }).optional(),
});
export type Handoff = z.infer<typeof Handoff>;
