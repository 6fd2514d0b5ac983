import assert from "node:assert/strict";
import { test } from "node:test";

import { initialPolicy } from "../protocol/routing/default-policy.ts";
import type { Policy } from "../protocol/routing/policy.ts";
import { routePrompt, sessionRefs } from "./route-prompt.ts";

const initial = initialPolicy("anthropic/x");
const policy: Policy = {
  ...initial,
  policy: { ...initial.policy, build: "acp:claude/opus", escalate_to: "operator:any" },
  routing: { decision_rules: ["billing => acp:codex", "no arrow"] },
};

test("a prompt goes to the model or the coding agent that the policy names for its words", () => {
  assert.deepEqual(routePrompt(policy, "implement it").runner, {
    kind: "acp",
    config: { profile: "claude", model: "opus" },
  });
  assert.equal(routePrompt(policy, "find out where it is documented").model, "anthropic/x");
  assert.deepEqual(routePrompt(policy, "billing").runner, { kind: "acp", config: { profile: "codex" } });
  assert.throws(() => routePrompt(policy, "rotate the credentials, a security risk"), /can go to a model or to acp:/);
});

test("the coding agents of a policy are found in its roles and rules", () => {
  assert.deepEqual(sessionRefs(policy), [
    { where: "policy.build", model: "acp:claude/opus" },
    { where: "routing.decision_rules[0]", model: "acp:codex" },
  ]);
});
