import assert from "node:assert/strict";
import { test } from "node:test";
import { modelRefProblem, parseModelRef } from "./model-ref.ts";

test("a known runner before the colon is split off, any other colon belongs to the model", () => {
  assert.deepEqual(parseModelRef("acp:claude"), { runner: "acp", model: "claude" });
  assert.deepEqual(parseModelRef("local:llama3:8b"), { runner: "local", model: "llama3:8b" });
  for (const model of ["gpt-5.4", "llama3:8b", "ACP:claude", ":x", "", "openai/gpt:free"]) {
    assert.deepEqual(parseModelRef(model), { model });
  }
});

test("a reference without a model is a problem that names the runner", () => {
  assert.equal(modelRefProblem("gpt-5.4"), undefined);
  assert.equal(modelRefProblem("operator:any"), undefined);
  assert.equal(modelRefProblem(" "), "must name a model");
  assert.equal(modelRefProblem("operator: "), 'must name a model after "operator:"');
});

test("a coding agent is named by its profile, with or without a model", () => {
  for (const good of ["acp:claude", "acp:claude/opus", "acp:opencode/anthropic/x:1"]) {
    assert.equal(modelRefProblem(good), undefined);
  }
  for (const bad of ["acp:", "acp: ", "acp:/opus", "acp:claude/", "acp:two words"]) {
    assert.match(modelRefProblem(bad) ?? "", /must name a coding agent/, bad);
  }
});
