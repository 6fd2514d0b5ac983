// Reads a review envelope and explains what it decides under a policy: the verdict, the reason, and the confidence it needs.

import { TuttiError } from "../protocol/error.ts";
import type { ReviewDecision } from "../protocol/api/catalog.ts";
import { defaultPolicy } from "../protocol/routing/default-policy.ts";
import type { Policy } from "../protocol/routing/policy.ts";
import { readReview } from "../protocol/routing/read-review.ts";
import { effectiveThreshold } from "../protocol/routing/route-handoff.ts";
import { judgeReview } from "./review-verdict.ts";

/** `review` is TOON, JSON or the object itself. Throws `invalid_input` when it cannot be read or is no review at all. */
export function explainReview(review: unknown, policy: Policy = defaultPolicy): ReviewDecision {
  const read = readReview(review);
  if (!read.ok) throw read.error;
  const { value } = read;
  const isEmpty = Object.keys(value).length === 1 && Object.keys(value.review).length === 0;
  if (isEmpty) throw new TuttiError("invalid_input", "review has none of the fields of a review envelope");
  const threshold = effectiveThreshold(policy, {});
  const { verdict, reason } = judgeReview(value, threshold);
  return { verdict, reason, threshold, envelope: value, warnings: [...read.warnings] };
}
