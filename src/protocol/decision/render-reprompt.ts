// What the manager is told, once, after a reply that held no usable decision.
import type { Dropped } from "./decision.ts";
import type { RepromptReason } from "./parse-decision.ts";

/** `no_confidence`: tasks could be launched, but how sure the manager is of them is not said. */
type Problem = RepromptReason | "no_confidence";

const openings = {
  no_decision: "Your last reply tried to decide, but no decision could be read from it, so nothing was done.",
  nothing_delegated: "Your last reply delegated no task that can be launched, so nothing was done.",
  no_confidence: "Your last reply does not say for every task how sure you are of it, so nothing was launched yet.",
} as const satisfies Record<Problem, string>;

/** A model needs to see the kind of its mistakes, not hundreds of them. */
const shown = 10;

export function renderReprompt(reason: Problem, dropped: readonly Dropped[] = []): string {
  const more = dropped.length - shown;
  return [
    openings[reason],
    ...(dropped.length > 0 ? ["What was not used:"] : []),
    ...dropped.slice(0, shown).map((entry) => `- ${entry.what}: ${entry.reason}`),
    ...(more > 0 ? [`- and ${more} more`] : []),
    'Answer again with exactly one JSON object and nothing else: {"action":"delegate","tasks":[…]} where every task ' +
      'has a `workdir` and a `prompt` that are not blank and its `conf`, or {"action":"respond","message":"…"}.',
  ].join("\n");
}
