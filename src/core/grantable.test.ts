import assert from "node:assert/strict";
import { test } from "node:test";

import { isGrantable } from "./grantable.ts";

test("--yes grants calls and questions of agents, and never trust, budget, protected files or an unconfined program", () => {
  const call = { tool_call_id: "c", tool_name: "run", input: {} };
  const approval = (details?: unknown): boolean => isGrantable({ kind: "approval", details });
  assert.equal(approval(), true);
  assert.equal(approval({ call, effects: ["execute"], confined: true }), true);
  assert.equal(approval({ call, effects: ["network"], confined: false }), true, "a tool of the project");
  assert.equal(approval({ call, effects: ["execute", "network"], confined: false }), false);
  assert.equal(approval({ call, effects: ["write", "protected"], confined: true }), false);
  assert.equal(approval({ project: "/p", hash: "h", files: [] }), false, "trust");
  assert.equal(approval({ agent: "a", runner: { kind: "command", config: {} } }), false, "a runner");
  assert.equal(isGrantable({ kind: "budget", details: {} }), false);
  assert.equal(isGrantable({ kind: "question" }), false);
});
