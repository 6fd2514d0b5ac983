// The handoff envelope: what a sender tells about a task when it passes it on.

import { z } from "zod";

const Text = z.string().optional();
const List = z.array(z.string()).optional();
const Flag = z.boolean().optional();
const Any = z
  .json()
  .refine((value) => value !== null, "null is said by leaving the field out")
  .optional();

/** Every field may be absent: what must be there is the policy's word, checked when the handoff is routed. */
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
