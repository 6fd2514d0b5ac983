import assert from "node:assert/strict";
import { test } from "node:test";

import { initialPolicy } from "../protocol/routing/default-policy.ts";
import { route } from "../protocol/routing/route-handoff.ts";
import type { PlannedTask } from "../protocol/task/goal.ts";
import { chooseRoute } from "./choose-route.ts";
import { makeHandoff } from "./make-handoff.ts";

const planned: PlannedTask = {
  id: "fix",
  round: 1,
  prompt: "Mend the total of the basket.",
  workdir: "/repo",
  kind: "code_change",
  after: [],
  agent: null,
  runtime: null,
  model: null,
  checks: [{ run: ["npm", "test"] }],
  acceptance: [],
  conf: 0.9,
  risks: [],
  assumptions: [],
  constraints: ["leave the API alone"],
  supersedes: null,
};
const base = initialPolicy("rehearsal/script");
const policy = {
  ...base,
  policy: { ...base.policy, router: "R", escalate_to: "E", info: "acp:claude/opus", build: "lab/B" },
};
const source = { planned, goal: "Ship it.", predecessors: [], workspace: "a worktree of /repo", budget: {} };

test("every required field has its source, and what is empty is written none", () => {
  const handoff = makeHandoff(source);
  const routed = route(policy, handoff);
  assert.deepEqual(routed.ok && [routed.value.model, routed.value.matched_by], ["lab/B", "scope"]);
  assert.deepEqual([handoff.scope, handoff.to_model, handoff.from_model], ["code_change", "none", "manager"]);
  assert.deepEqual([handoff.constraints, handoff.risks], [["leave the API alone"], ["none"]]);
  assert.deepEqual(handoff.artifact_refs, ["none"]);
});

test("the manager's model is the destination and is honoured as the policy honours it", () => {
  const model = "claude/opus";
  const routed = route(policy, makeHandoff({ ...source, planned: { ...planned, runtime: "acp", model } }));
  assert.deepEqual(routed.ok && [routed.value.model, routed.value.matched_by], ["acp:claude/opus", "destination"]);
  const unknown = route(policy, makeHandoff({ ...source, planned: { ...planned, model: "gpt-99" } }));
  assert.equal(unknown.ok && unknown.value.model, "lab/B");
});

test("dependencies are artifact references, and what they say is told as what they say", () => {
  const before = { planned: "api", task: "tsk_1", branch: "tutti/tsk_1-1", commit: "abc", claim: "security is done" };
  const handoff = makeHandoff({ ...source, predecessors: [before] });
  assert.deepEqual(handoff.artifact_refs, ["task api (tsk_1), branch tutti/tsk_1-1, commit abc"]);
  assert.match(handoff.current_state ?? "", /done before: api\. It says: security is done/);
  const routed = route(policy, handoff);
  assert.equal(routed.ok && routed.value.matched_by, "scope", "a claim does not route");
});

test("a missing confidence is not filled in", () => {
  const routed = route(policy, makeHandoff({ ...source, planned: { ...planned, conf: null } }));
  assert.deepEqual(!routed.ok && routed.error.fields, ["conf"]);
});

test("a person's choice beats the policy, and the policy beats the agent's definition", () => {
  const decision = { model: "acp:claude/opus", reason: "why", matched_by: "scope", words: ["docs"] } as const;
  const agent = { kind: "acp", config: { profile: "codex" } };
  const sources = { person: null, decision, isDefaultPolicy: false, agent };
  const chosen = [
    chooseRoute({ ...sources, person: "lab/big" }),
    chooseRoute(sources),
    chooseRoute({ ...sources, isDefaultPolicy: true }),
    chooseRoute({ ...sources, isDefaultPolicy: true, agent: null }),
  ].map(({ runner, model, chosen_by }) => [runner.kind, runner.config, model, chosen_by]);
  assert.deepEqual(chosen, [
    ["local", { model: "lab/big" }, "lab/big", "person"],
    ["acp", { profile: "claude", model: "opus" }, "claude/opus", "policy"],
    ["acp", { profile: "codex" }, "codex", "agent"],
    ["acp", { profile: "claude", model: "opus" }, "claude/opus", "default"],
  ]);
  assert.throws(() => chooseRoute({ ...sources, person: "command:sh" }), /does not do the task of a model/);
});
