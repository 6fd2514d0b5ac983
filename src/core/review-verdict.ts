// When a review of a task is needed, and what its envelope decides.

import type { Handoff } from "../protocol/routing/handoff.ts";
import type { Policy } from "../protocol/routing/policy.ts";
import type { Review } from "../protocol/routing/review.ts";
import { isEscalation, type RouteDecision } from "../protocol/routing/route-handoff.ts";
import { asciiLower } from "../protocol/routing/text.ts";
import { trimSpace } from "../protocol/white-space.ts";

interface ReviewVerdict {
  /** `ask`: the reviewer approves without a confidence, so it is asked for one; nobody else fills it in. */
  readonly verdict: "approve" | "revise" | "escalate" | "ask";
  readonly reason: string;
}

interface ReviewNeed {
  readonly needed: boolean;
  readonly reason: string;
}

interface WorkDone {
  readonly decision: RouteDecision;
  readonly namesRisk: boolean;
  /** `none`: there was nothing to check, so nothing but the worker's word says it is done. */
  readonly checks: "pass" | "none";
}

/** Everything but a clear answer escalates: an unreadable or unsure review cannot approve. */
export function judgeReview({ review }: Review, threshold: number): ReviewVerdict {
  const gate = asciiLower(trimSpace(review.gate ?? ""));
  if (gate === "") return { verdict: "escalate", reason: "the review names no gate" };
  if (gate.includes("|")) return { verdict: "escalate", reason: "the review repeats the menu of gates" };
  if (gate === "escalate") return { verdict: "escalate", reason: "the reviewer escalates" };
  if (gate === "revise") return { verdict: "revise", reason: "the reviewer asks for a revision" };
  if (gate !== "approve") return { verdict: "escalate", reason: "the review names an unknown gate" };
  const { conf } = review;
  if (conf === undefined) return { verdict: "ask", reason: "the reviewer approves without a confidence" };
  if (!(conf >= 0 && conf <= 1)) return { verdict: "escalate", reason: `review confidence ${conf} is outside 0..1` };
  if (conf < threshold) return { verdict: "escalate", reason: `review confidence ${conf} is below ${threshold}` };
  return { verdict: "approve", reason: "the reviewer approves" };
}

export function reviewNeed(when: Policy["review"], { decision, namesRisk, checks }: WorkDone): ReviewNeed {
  if (when === "always") return { needed: true, reason: "the policy asks for every review" };
  if (when === "never") return { needed: false, reason: "the policy asks for no review" };
  if (isEscalation(decision)) return { needed: true, reason: `routed by ${decision.matched_by}` };
  if (namesRisk) return { needed: true, reason: "the handoff names a risk" };
  if (checks === "none") return { needed: true, reason: "no check proves it" };
  return { needed: false, reason: "checked, and no risk named" };
}

/** "none" is how a handoff says that there is no risk. */
export function namesRisk(handoff: Handoff): boolean {
  return handoff.risks?.some((risk) => !["", "none"].includes(asciiLower(trimSpace(risk)))) ?? false;
}
