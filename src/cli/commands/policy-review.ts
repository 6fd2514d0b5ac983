// `tutti policy review`: reads a review envelope and says what it decides, and why.
import { explainReview } from "../../core/explain-review.ts";
import type { ReviewDecision } from "../../protocol/api/catalog.ts";
import { TuttiError } from "../../protocol/error.ts";
import type { Policy } from "../../protocol/routing/policy.ts";
import { readPolicy } from "../../protocol/routing/read-policy.ts";
import { type BatchRecord, runBatch } from "../batch.ts";
import { readText } from "../input.ts";
import type { InputOptions } from "../options.ts";
import { warn } from "../terminal/output.ts";
import { writeJson, writeLine } from "../terminal/screen.ts";
import { bold, dim } from "../terminal/style.ts";

export interface PolicyReviewOptions extends InputOptions {
  readonly policy?: string;
}

export async function policyReviewCommand(file: string | undefined, options: PolicyReviewOptions): Promise<void> {
  const { limit } = options;
  const policy = options.policy === undefined ? undefined : policyIn(await readText(options.policy, limit));
  if (options.jsonl === true) {
    await runBatch((record) => ({ ...explainRecord(record, policy) }), { file, limit });
    return;
  }
  const decision = explainReview(await readText(file, limit), policy);
  for (const warning of decision.warnings) warn(warning);
  if (options.json === true) return writeJson(decision);
  for (const line of linesOf(decision)) await writeLine(line);
}

function policyIn(text: unknown): Policy {
  const read = readPolicy(text);
  for (const warning of read.warnings) warn(warning);
  if (!read.ok) throw read.error;
  return read.value;
}

/** A record may have a policy of its own. */
function explainRecord(record: BatchRecord, policy: Policy | undefined): ReviewDecision {
  if (record["review"] === undefined) throw new TuttiError("invalid_input", "`review` is missing");
  const own = record["policy"] ?? undefined;
  return explainReview(record["review"], own === undefined ? policy : policyIn(own));
}

function linesOf({ verdict, reason, threshold, envelope }: ReviewDecision): string[] {
  const { from, to, review } = envelope;
  const line = (name: string, value: string): string => `${dim(name.padEnd(10))}  ${value}`;
  const optional = (name: string, value: string | undefined): string[] =>
    value === undefined ? [] : [line(name, value)];
  return [
    line("verdict", bold(verdict)),
    line("reason", reason),
    line("needs", `a confidence of at least ${threshold}; the review has ${review.conf ?? "none"}`),
    ...optional("task", review.task),
    ...optional("from", from),
    ...optional("to", to),
    ...optional("findings", review.findings?.join("; ")),
    ...optional("required", review.required?.join("; ")),
  ];
}
