// A model object of any version of the AI SDK's interface does an agent's work.
import assert from "node:assert/strict";
import { test } from "node:test";

import { anthropic } from "@ai-sdk/anthropic";

import { failsWith } from "../../test/support/try-tool.ts";
import { weather, weatherModel } from "../../test/support/weather-model.ts";
import { agent, openTutti } from "../index.ts";
import { transcriptOf } from "../library/testing.ts";
import { isModelObject, objectName } from "./model-object.ts";

for (const version of ["v2", "v3", "v4"]) {
  test(`a model of version ${version} calls tools, streams its text, and its tokens are counted`, async () => {
    const model = weatherModel({ version });
    const guide = agent({ name: "guide", instructions: "Say what to wear.", model, tools: [weather] });
    await using tutti = await openTutti({ memory: true, agents: [guide] });
    const run = await tutti.run(guide, "What is it like in Oslo?");
    const texts: string[] = [];
    for await (const part of run.stream()) if (part.type === "text") texts.push(part.text);
    assert.equal(texts.join(""), "It is cold.");
    assert.equal(await run.result(), "It is cold.");
    assert.deepEqual((await transcriptOf(run)).callsOf("weather")[0]?.output, { city: "Oslo", degrees: -3 });
    const [, second] = model.asked;
    assert.deepEqual(
      second?.prompt.map(({ role }) => role),
      ["system", "user", "assistant", "tool"],
    );
    const [shown] = await tutti.runs();
    assert.equal(shown?.tokens, 30);
  });
}

test("a version that is not known is refused, and what is no model is not taken for one", async () => {
  const model = weatherModel({ version: "v9" });
  const guide = agent({ name: "guide", instructions: "x", model });
  await assert.rejects(
    openTutti({ memory: true, agents: [guide] }),
    failsWith("invalid_input", /version v9.*v2, v3, v4/),
  );
  assert.equal(objectName(model), "mine/small");
  assert.equal(isModelObject({ provider: "x", modelId: "y" }), false);
  assert.equal(isModelObject(null), false);
});

test("two models of the same name are two models", async () => {
  const [one, other] = [weatherModel({ version: "v4" }), weatherModel({ version: "v4" })];
  const first = agent({ name: "first", instructions: "x", model: one, tools: [weather] });
  const second = agent({ name: "second", instructions: "x", model: other, tools: [weather] });
  await using tutti = await openTutti({ memory: true, agents: [first, second] });
  await (await tutti.run(second, "go")).result();
  assert.deepEqual([one.asked.length, other.asked.length], [0, 2]);
});

test("a model object of a provider that finds no key fails at once, and says which variable to set", async (t) => {
  const before = process.env["ANTHROPIC_API_KEY"];
  delete process.env["ANTHROPIC_API_KEY"];
  t.after(() => before !== undefined && (process.env["ANTHROPIC_API_KEY"] = before));
  const keyless = agent({ name: "keyless", instructions: "x", model: anthropic("claude-sonnet-5-5") });
  await using tutti = await openTutti({ memory: true, agents: [keyless] });
  const run = await tutti.run(keyless, "go");
  await assert.rejects(
    run.result(),
    failsWith("step_failed", /^anthropic\/claude-sonnet-5-5 cannot be called \(.*ANTHROPIC_API_KEY/),
  );
  for await (const part of run.stream()) assert.notEqual(part.type, "notice", "nothing is tried again");
});
