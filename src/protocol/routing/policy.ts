// The routing policy: which model has which role, when the router is asked, and what a handoff must contain.

import { z } from "zod";
import { policyFields } from "./field-tables.ts";
import { modelRefProblem } from "./model-ref.ts";

const ModelRef = z.string().refine((value) => modelRefProblem(value) === undefined, {
  error: (issue) => modelRefProblem(String(issue.input)) ?? "is not a model",
});

const gate = policyFields.section.gate.choice;

export const Policy = z.strictObject({
  policy: z.strictObject({
    router: ModelRef,
    info: ModelRef,
    build: ModelRef,
    escalate_to: ModelRef,
    /** May be outside 0..1: above 1, every handoff goes to `escalate_to`. */
    conf_threshold: z.number(),
  }),
  routing: z.strictObject({
    /** `words => model`, tried in order after the built-in words. */
    decision_rules: z.array(z.string()),
  }),
  gate: z.strictObject({
    require_fields: z.array(z.string()),
    fail_if_conf_less: z.number(),
    if_conflict_or_missing: z.enum(gate.if_conflict_or_missing),
    if_test_failure: z.enum(gate.if_test_failure),
  }),
  review: z.enum(policyFields.choice.review),
  words: z.enum(policyFields.choice.words),
});
export type Policy = z.infer<typeof Policy>;
