// The operator runner's part of an invocation: whom the task is offered to, and what may be done when it goes wrong.

import { z } from "zod";

import { TuttiError } from "../../protocol/error.ts";
import { describeIssues, issuesOf } from "../../protocol/lenient-read.ts";
import { anyOperator, OperatorName } from "../../protocol/operator/operator-session.ts";

const day = 24 * 60 * 60 * 1000;

const OperatorConfig = z.strictObject({
  operator: OperatorName.default(anyOperator),
  /** May it be handed out again when nobody knows what became of it? */
  repeatable: z.boolean().default(false),
  /** How long it may take from the offer to the result. */
  deadline_ms: z
    .int()
    .min(1)
    .max(30 * day)
    .default(day),
  /** How long a posted result waits for the operator's word on it, which may still fail it. */
  ack_ms: z
    .int()
    .min(0)
    .max(60 * 60 * 1000)
    .default(30_000),
});
export type OperatorConfig = z.infer<typeof OperatorConfig>;

/** Throws `invalid_input`, and says which field. */
export function readOperatorConfig(raw: unknown): OperatorConfig {
  const parsed = OperatorConfig.safeParse(raw);
  if (parsed.success) return parsed.data;
  const said = describeIssues(issuesOf(parsed.error));
  throw new TuttiError("invalid_input", `the config of the operator runner cannot be used: ${said}`);
}
