import assert from "node:assert/strict";
import { test } from "node:test";

import { parseRunnerRef } from "./runner-ref.ts";

test("a runner is named by its kind, a coding agent with its profile and perhaps a model", () => {
  assert.deepEqual(parseRunnerRef("command"), { kind: "command", config: {} });
  assert.deepEqual(parseRunnerRef("acp"), { kind: "acp", config: {} });
  assert.deepEqual(parseRunnerRef("acp:claude"), { kind: "acp", config: { profile: "claude" } });
  assert.deepEqual(parseRunnerRef("acp:opencode/anthropic/x-1"), {
    kind: "acp",
    config: { profile: "opencode", model: "anthropic/x-1" },
  });
  for (const wrong of ["", "acp:", "acp:claude/", "acp:/x", "command:x", "a b"]) {
    assert.throws(() => parseRunnerRef(wrong), /names no runner|incomplete|only acp/, wrong);
  }
});
