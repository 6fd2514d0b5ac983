// Effort, temperature and provider options, as each provider gets them.
import assert from "node:assert/strict";
import { test } from "node:test";

import { systemClock } from "../engine/clock.ts";
import type { TuttiError } from "../protocol/error.ts";
import type { Model } from "../model-port.ts";
import { idle, request, wires } from "../../test/support/model-server-models.ts";
import { modelServer, type ModelServer, type Turns } from "../../test/support/model-server.ts";
import type { Wire } from "../../test/support/model-server-wires.ts";
import { models } from "./model-registry.ts";
import { rehearsalModel } from "./rehearsal/rehearsal-model.ts";

const ids: Readonly<Record<Wire, string>> = {
  anthropic: "claude-opus-5-5",
  openai: "gpt-6-sol",
  google: "gemini-3.8-flash",
  "openai-compatible": "qwen3",
};

function modelOn(wire: Wire, { origin }: ModelServer, settings: object = {}): Model {
  const here = { kind: wire, base_url: `${origin}/v1`, key_env: null, format: "native" };
  const config = { providers: { here }, models: { [`here/${ids[wire]}`]: settings } };
  return models({ config, env: {}, clock: systemClock }).withRehearsal(rehearsalModel({}));
}

/** What the server got of the settings. */
function settingsIn(wire: Wire, { received }: ModelServer, at = -1): unknown {
  const body = received.at(at)?.body ?? {};
  const { thinking, output_config, reasoning, reasoning_effort, temperature, top_k } = body;
  if (wire === "google") {
    const { thinkingConfig, temperature: degree } = Object(body["generationConfig"]);
    return { thinkingConfig, temperature: degree };
  }
  return JSON.parse(JSON.stringify({ thinking, output_config, reasoning, reasoning_effort, temperature, top_k }));
}

const done: Turns = [{ reply: { text: ["done"] } }];
const binding = { block_binding: { prefix_mismatch_behavior: "drop_block" } };

const withEffort: Readonly<Record<Wire, unknown>> = {
  anthropic: {
    thinking: { type: "adaptive", display: "summarized", ...binding },
    output_config: { effort: "high" },
  },
  openai: { reasoning: { effort: "high", summary: "auto" } },
  google: { thinkingConfig: { includeThoughts: true, thinkingLevel: "high" }, temperature: undefined },
  "openai-compatible": { reasoning_effort: "high" },
};

for (const wire of wires) {
  const model = `here/${ids[wire]}`;

  test(`${wire}: an effort becomes the provider's own setting, and summaries of the thinking are asked for`, async (context) => {
    const server = await modelServer(context, wire, done);
    await modelOn(wire, server).call(request({ model, effort: "high" }), { signal: idle });
    assert.deepEqual(settingsIn(wire, server), withEffort[wire]);
    // That of the request goes before that of the model.
    const low = modelOn(wire, server, { effort: "low" });
    await low.call(request({ model }), { signal: idle });
    assert.match(JSON.stringify(settingsIn(wire, server)), /low/);
    await low.call(request({ model, effort: "high" }), { signal: idle });
    assert.deepEqual(settingsIn(wire, server), withEffort[wire]);
  });

  test(`${wire}: a setting that the server refuses is left out, now and from then on, and a person is told`, async (context) => {
    const message = "Unsupported value: 'effort' is not supported with this model.";
    const server = await modelServer(context, wire, (_, index) =>
      index === 0
        ? { status: 400, body: { type: "error", error: { type: "invalid_request_error", message, code: 400 } } }
        : { reply: { text: ["done"] } },
    );
    const here = modelOn(wire, server);
    const told: string[] = [];
    const options = { signal: idle, onNotice: (text: string) => told.push(text) };
    await here.call(request({ model, effort: "high" }), options);
    await here.call(request({ model, effort: "high" }), options);
    assert.deepEqual(told, [`${model} does not take \`effort\`; it is left out`]);
    assert.equal(server.received.length, 3);
    assert.ok(!JSON.stringify(settingsIn(wire, server)).includes("high"));
  });
}

test("temperature and the options of a provider are sent as they are", async (context) => {
  const server = await modelServer(context, "openai-compatible", done);
  const here = modelOn("openai-compatible", server, { temperature: 0.7, provider_options: { top_k: 5, seed: 1 } });
  const options = { model: "here/qwen3", temperature: 0.2, providerOptions: { seed: 2 } };
  await here.call(request(options), { signal: idle });
  assert.deepEqual(settingsIn("openai-compatible", server), { temperature: 0.2, top_k: 5 });
  assert.equal(server.received[0]?.body["seed"], 2);

  const tiers = await modelServer(context, "openai", done);
  const openai = modelOn("openai", tiers, { provider_options: { serviceTier: "flex" } });
  await openai.call(request({ model: "here/gpt-6-sol" }), { signal: idle });
  assert.equal(tiers.received[0]?.body["service_tier"], "flex");
  const wrong = openai.call(request({ model: "here/gpt-6-sol", providerOptions: { serviceTier: 7 } }), {
    signal: idle,
  });
  await assert.rejects(wrong, (thrown: TuttiError) => thrown.code === "invalid_input" && thrown.retry === "never");
  assert.equal(tiers.received.length, 1);
});

test("options that would let the provider run tools or keep the history are refused", () => {
  const config = { models: { "openai/gpt-6-sol": { provider_options: { mcpServers: [], previousResponseId: "r" } } } };
  assert.throws(
    () => models({ config, env: {}, clock: systemClock }),
    /provider_options\.mcpServers.*is set by Tutti/s,
  );
});

test("an agent that waits has its prompt cached for an hour, at the price of that", async (context) => {
  const reply = { text: ["done"], usage: { input: 1_000_000, output: 0, written: 1_000_000 } };
  const server = await modelServer(context, "anthropic", [{ reply }]);
  const config = {
    providers: { anthropic: { base_url: `${server.origin}/v1`, key_env: null } },
  };
  const here = models({ config, env: {}, clock: systemClock }).withRehearsal(rehearsalModel({}));
  const model = "anthropic/claude-sonnet-5-5";
  const short = await here.call(request({ model }), { signal: idle });
  const long = await here.call(request({ model, waits: true }), { signal: idle });
  assert.deepEqual([short.usage.money_micro_usd, long.usage.money_micro_usd], [2_500_000, 4_000_000]);
  const marks = server.received.map(({ body }) => JSON.stringify(body).match(/"cache_control":\{[^}]*\}/g));
  assert.deepEqual(new Set(marks[0]), new Set(['"cache_control":{"type":"ephemeral"}']));
  assert.deepEqual(new Set(marks[1]), new Set(['"cache_control":{"type":"ephemeral","ttl":"1h"}']));
});
