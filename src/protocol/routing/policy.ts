// The routing policy: which model has which role, when the router is asked, and what a handoff must contain.

import { z } from "zod";
import { policyFields } from "./field-tables.ts";
import { fallbackProblem, modelRefProblem } from "./model-ref.ts";
import { maxFallbacks } from "./role-fallbacks.ts";

const ModelRef = z.string().refine((value) => modelRefProblem(value) === undefined, {
  error: (issue) => modelRefProblem(String(issue.input)) ?? "is not a model",
});

const FallbackRefs = z
  .array(
    z.string().refine((value) => fallbackProblem(value) === undefined, {
      error: (issue) => fallbackProblem(String(issue.input)) ?? "is not a model",
    }),
  )
  .max(maxFallbacks)
  .optional();

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
  /** By role, the models to try in this order when the model of the role fails. An empty list says that there are none. */
  fallbacks: z
    .strictObject({
      router: FallbackRefs,
      info: FallbackRefs,
      build: FallbackRefs,
      escalate_to: FallbackRefs,
    })
    .optional(),
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
