// The config of the operator runner: which operator the task is offered to, and its limits.

import { z } from "zod";

import { maxTokenLife } from "../../protocol/operator/capability-token.ts";
import { defaultLives } from "../../protocol/operator/lease.ts";
import { anyOperator, OperatorName } from "../../protocol/operator/operator-name.ts";
import { readRunnerConfig } from "../shared/runner-config.ts";

const day = 24 * 60 * 60 * 1000;

const life = z.int().min(1000).max(maxTokenLife);

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
  /** How long the worker's token and handle are valid, and how long it may be silent before its first progress post. */
  token_ms: life.default(defaultLives.tokenMs),
  /** How long the worker may be silent after a progress post. */
  lease_ms: life.default(defaultLives.leaseMs),
});
export type OperatorConfig = z.infer<typeof OperatorConfig>;

export function readOperatorConfig(config: unknown): OperatorConfig {
  return readRunnerConfig("operator", OperatorConfig, config);
}
