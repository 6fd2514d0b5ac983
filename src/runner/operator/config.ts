// The config of the operator runner: which operator the task is offered to, and its limits.

import { z } from "zod";

import { anyOperator, OperatorName } from "../../protocol/operator/operator-session.ts";
import { readRunnerConfig } from "../shared/runner-config.ts";

const day = 24 * 60 * 60 * 1000;

const OperatorConfig = z.strictObject({
  operator: OperatorName.default(anyOperator),
  /** Whether the task may be offered again when nobody knows what its worker has done. */
  repeatable: z.boolean().default(false),
  /** The most time from the offer to the result. */
  deadline_ms: z
    .int()
    .min(1)
    .max(30 * day)
    .default(day),
  /** How long a posted result waits for the operator's own answer, which may still fail the task. */
  ack_ms: z
    .int()
    .min(0)
    .max(60 * 60 * 1000)
    .default(30_000),
});
export type OperatorConfig = z.infer<typeof OperatorConfig>;

export function readOperatorConfig(config: unknown): OperatorConfig {
  return readRunnerConfig("operator", OperatorConfig, config);
}
