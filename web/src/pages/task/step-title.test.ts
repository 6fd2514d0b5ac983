import assert from "node:assert/strict";
import { test } from "node:test";

import { stepTitle } from "./step-title.ts";

test("steps have names in words, and one that nobody knows keeps its key", () => {
  const keys = ["model:0", "tool:3.0", "workspace", "assigned.after2.verify", "own step"];
  assert.deepEqual(keys.map(stepTitle), [
    "Model call, turn 1",
    "Tool call, turn 4",
    "Workspace made ready",
    "Work verified",
    "own step",
  ]);
});
