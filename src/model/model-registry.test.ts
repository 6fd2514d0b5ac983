import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";

import { systemClock } from "../engine/clock.ts";
import type { ModelRequest } from "../model-port.ts";
import { completeMessage, userMessage } from "../protocol/task/message.ts";
import { models } from "./model-registry.ts";
import { ModelsConfig } from "./models-config.ts";
import { rehearsalModel } from "./rehearsal/rehearsal-model.ts";
import { resolveModel } from "./resolve-model.ts";

const idle = new AbortController().signal;
const rehearsal = rehearsalModel({ rules: [{ say: "from the script" }] });

function request(model: string, rest: Partial<ModelRequest> = {}): ModelRequest {
  const messages = [completeMessage(userMessage("hello"), { id: "m", now: 0 })];
  return { model, agent: "a", system: "", messages, tools: [], ...rest };
}

function all(config: unknown = {}, env: Readonly<Record<string, string>> = {}) {
  return models({ config, env, clock: systemClock });
}

function resolved(name: string, config: unknown = {}, env: Readonly<Record<string, string>> = {}) {
  return resolveModel({ config: ModelsConfig.parse(config), env }, name);
}

test("the rehearsal needs neither a config nor a key", async () => {
  const house = all();
  const reply = await house.withRehearsal(rehearsal).call(request("rehearsal/script"), { signal: idle });
  assert.deepEqual(reply.message.parts, [{ part_type: "text", data: "from the script" }]);
});

test("a missing key is told by the name of its variable before anything is sent", async () => {
  const here = all().withRehearsal(rehearsal);
  await assert.rejects(here.call(request("anthropic/claude-opus-5"), { signal: idle }), /set ANTHROPIC_API_KEY/);
  await assert.rejects(
    here.call(request("google/gemini-2.5-pro"), { signal: idle }),
    /GOOGLE_GENERATIVE_AI_API_KEY or GEMINI_API_KEY/,
  );
  await assert.rejects(here.call(request("openrouter/a/b"), { signal: idle }), /OPENROUTER_API_KEY/);
});

test("a name without a provider, of an unknown provider, or an alias that leads in a circle says what to write", () => {
  assert.throws(() => resolved("claude"), /write provider\/model/);
  assert.throws(() => resolved("nobody/m"), /no model provider nobody; there are: anthropic, openai, google/);
  assert.throws(() => resolved("a", { aliases: { a: "b", b: "a" } }), /circle/);
  assert.throws(() => all({ providers: { x: { kind: "smoke" } } }), /providers\.x\.kind/);
  assert.throws(() => resolved("x/m", { providers: { x: { base_url: "http://localhost:1" } } }), /needs a kind/);
  assert.throws(() => resolved("x/m", { providers: { x: { kind: "openai" } } }), /needs a base_url/);
});

test("aliases, keys and addresses are taken from the config first, then from the environment", () => {
  const env = { GEMINI_API_KEY: " g ", ANTHROPIC_BASE_URL: "http://localhost:9/" };
  const config = {
    aliases: { fast: "google/gemini-2.5-flash" },
    providers: { openai: { base_url: "https://proxy.test/v1/" } },
  };
  assert.deepEqual(
    [resolved("fast", config, env).name, resolved("fast", config, env).provider.key],
    ["google/gemini-2.5-flash", "g"],
  );
  assert.equal(resolved("anthropic/x", config, env).provider.baseUrl, "http://localhost:9/v1");
  assert.equal(resolved("openai/x", config, env).provider.baseUrl, "https://proxy.test/v1");
  assert.equal(resolved("openrouter/anthropic/claude", {}, {}).id, "anthropic/claude");
  assert.deepEqual(resolved("ollama/llama3:8b", {}, {}).provider.keyEnv, []);
});

test("auto offers the tools and may change to fenced, a format that the config names stays", () => {
  const formatOf = (name: string): unknown => [resolved(name).format, resolved(name).formatMayChange];
  assert.deepEqual(formatOf("openai/gpt-5"), ["native", true]);
  assert.deepEqual(formatOf("ollama/llama3:8b"), ["native", true]);
  const config = { providers: { ollama: { format: "native" } }, models: { "ollama/tiny": { format: "fenced" } } };
  assert.equal(resolved("ollama/llama3:8b", config).format, "native");
  assert.equal(resolved("ollama/llama3:8b", config).formatMayChange, false);
  assert.equal(resolved("ollama/tiny", config).format, "fenced");
});

test("the models to try next are found under the name of a model and under its alias", () => {
  const config = { aliases: { best: "openai/gpt-5" }, fallbacks: { best: ["ollama/a", "ollama/b"] } };
  assert.deepEqual(resolved("openai/gpt-5", config).fallbacks, ["ollama/a", "ollama/b"]);
  assert.deepEqual(resolved("ollama/a", config).fallbacks, []);
});

test("an estimate is the input and the longest output, at the dearest rate; without a price its money is null", () => {
  const here = all({ prices: { "ollama/free": { input: 0, output: 0 } } }).withRehearsal(rehearsal);
  const asked = request("anthropic/claude-opus-5", { system: "x".repeat(3500), maxOutputTokens: 1000 });
  const usage = here.estimate(asked);
  assert.ok(usage.input_tokens >= 1000 && usage.input_tokens < 1100);
  assert.equal(usage.output_tokens, 1000);
  assert.equal(usage.money_micro_usd, Math.ceil(usage.input_tokens * 6.25 + 1000 * 25));
  assert.equal(here.estimate(request("ollama/llama3:8b")).money_micro_usd, 0, "a server of one's own is free");
  assert.equal(here.estimate(request("openrouter/some/model")).money_micro_usd, null);
  assert.equal(here.estimate(request("ollama/free")).money_micro_usd, 0);
  const chinese = here.estimate(request("ollama/free", { system: "你".repeat(1000) }));
  assert.ok(chinese.input_tokens >= 1000);
});

test("the list names what is configured, with price and format, and never a key", async () => {
  const config = { aliases: { best: "anthropic/claude-opus-5", local: "ollama/llama3:8b" } };
  const list = await all(config, { OPENAI_API_KEY: "sk-secret" }).list();
  const best = list.find(({ name }) => name === "anthropic/claude-opus-5");
  assert.deepEqual([best?.aliases, best?.configured, best?.keyEnv], [["best"], false, ["ANTHROPIC_API_KEY"]]);
  const local = list.find(({ name }) => name === "ollama/llama3:8b");
  assert.deepEqual([local?.configured, local?.price, local?.format], [true, null, "native"]);
  assert.ok(list.some(({ name, configured }) => name === "openai/gpt-5" && configured));
  assert.ok(!list.some(({ provider }) => provider === "google"));
  assert.doesNotMatch(JSON.stringify(list), /sk-secret/);
});

test("importing the models loads no provider's package", () => {
  const file = JSON.stringify(new URL("./model-registry.ts", import.meta.url).href);
  const script = `import { registerHooks } from "node:module";
    registerHooks({ resolve(name, context, next) { console.log("asked for " + name); return next(name, context); } });
    await import(${file});`;
  const told = execFileSync(process.execPath, ["--input-type=module", "-e", script], { encoding: "utf8" });
  assert.match(told, /asked for .*list-models\.ts/);
  assert.doesNotMatch(told, /@ai-sdk/);
});

test("the profile of calls as text is the model's, else its provider's, else tolerant", () => {
  const config = { providers: { ollama: { profile: "strict" } }, models: { "ollama/b": { profile: "tolerant" } } };
  assert.deepEqual(
    ["ollama/a", "ollama/b", "openai/c"].map((name) => resolved(name, config).profile),
    ["strict", "tolerant", "tolerant"],
  );
});
