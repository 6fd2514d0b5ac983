// A model object of any version of the AI SDK's interface does an agent's work.
import assert from "node:assert/strict";
import { test } from "node:test";

import { anthropic } from "@ai-sdk/anthropic";
import { z } from "zod";

import { failsWith } from "../../test/support/try-tool.ts";
import { agent, openTutti, tool } from "../index.ts";
import { transcriptOf } from "../library/testing.ts";
import { isModelObject, objectName } from "./model-object.ts";

const weather = tool({
  name: "weather",
  description: "Tells the weather.",
  input: z.object({ city: z.string() }),
  effects: ["network"],
  run: ({ city }) => ({ city, degrees: -3 }),
});

const usages: Record<string, unknown> = {
  v2: { inputTokens: 10, outputTokens: 5, totalTokens: 15, cachedInputTokens: 2 },
  v3: { inputTokens: { total: 10, cacheRead: 2 }, outputTokens: { total: 5 } },
  v4: { inputTokens: { total: 10, cacheRead: 2 }, outputTokens: { total: 5 } },
};

/** A model that calls the tool, and then says what it was told. It keeps what it was asked. */
function ownModel(specificationVersion: string) {
  const asked: { prompt: { role: string; content: unknown }[]; tools?: unknown[] }[] = [];
  const finish = (reason: string) => ({
    type: "finish",
    finishReason: specificationVersion === "v2" ? reason : { unified: reason, raw: undefined },
    usage: usages[specificationVersion] ?? usages["v4"],
  });
  return {
    asked,
    specificationVersion,
    provider: "mine.chat",
    modelId: "small",
    supportedUrls: {},
    async doStream(options: (typeof asked)[number]) {
      asked.push(options);
      const parts: Record<string, unknown>[] =
        asked.length === 1
          ? [
              { type: "stream-start", warnings: [] },
              { type: "tool-call", toolCallId: "c1", toolName: "weather", input: '{"city":"Oslo"}' },
              finish("tool-calls"),
            ]
          : [
              { type: "text-start", id: "t" },
              { type: "text-delta", id: "t", delta: "It is " },
              { type: "text-delta", id: "t", delta: "cold." },
              { type: "text-end", id: "t" },
              finish("stop"),
            ];
      return { stream: ReadableStream.from(parts) };
    },
  };
}

for (const version of ["v2", "v3", "v4"]) {
  test(`a model of version ${version} calls tools, streams its text, and its tokens are counted`, async () => {
    const model = ownModel(version);
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
  const model = ownModel("v9");
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
  const [one, other] = [ownModel("v4"), ownModel("v4")];
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
