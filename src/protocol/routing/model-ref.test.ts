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
  assert.equal(modelRefProblem("acp: "), 'must name a model after "acp:"');
});
