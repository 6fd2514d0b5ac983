// The default policy, which fills what a policy leaves out, and the policy a new project starts with.

import type { Policy } from "./policy.ts";

export const defaultPolicy: Policy = {
  policy: {
    router: "gpt-5.4",
    info: "gpt-5.4-mini",
    build: "gpt-5.3-codex-spark",
    escalate_to: "gpt-5.4",
    conf_threshold: 0.85,
  },
  routing: { decision_rules: [] },
  gate: {
    require_fields: [
      "task_id",
      "from_model",
      "to_model",
      "objective",
      "scope",
      "constraints",
      "current_state",
      "artifact_refs",
      "expected_output",
      "acceptance_criteria",
      "risks",
      "fallback_triggers",
      "conf",
      "assumptions_made",
      "open_questions",
      "failed_checks",
    ],
    fail_if_conf_less: 0.85,
    if_conflict_or_missing: "reroute_to_router",
    if_test_failure: "reroute_to_builder_once_then_router",
  },
  review: "risk",
  words: "substring",
};

/** The rehearsal needs neither a key nor a network. */
const alwaysRuns = "rehearsal/script";

/**
 * All roles get `model`, as `provider/model`: the models of the default policy have no provider, so they cannot run. Matches
 * whole words: a new project has no older policy that relies on finding "test" in "latest".
 */
export function initialPolicy(model: string = alwaysRuns): Policy {
  const copy = structuredClone(defaultPolicy);
  const roles = { router: model, info: model, build: model, escalate_to: model };
  return { ...copy, policy: { ...copy.policy, ...roles }, words: "boundary" };
}
