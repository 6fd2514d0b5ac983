import assert from "node:assert/strict";
import { test } from "node:test";

import type { Model, ModelFacts } from "../../model-port.ts";
import { InvocationFile } from "../../protocol/invocation/invocation-file.ts";
import { named, single } from "../../protocol/invocation/invocation-builders.ts";
import { agentEnvironment } from "../agent-environment.ts";
import { findAgent } from "../delegation/find-agent.ts";
import { agentSetup, type SetupOptions } from "./agent-setup.ts";

const environment = agentEnvironment();

function optionsFor(definition: object, more: object = {}): SetupOptions {
  const file = InvocationFile.parse({
    invocation: single(named("a", "go")),
    agents: { a: { instructions: "Be brief.", ...definition } },
    ...more,
  });
  const agent = findAgent(file, { type: "named", agent_id: "a" }) ?? assert.fail();
  return { file, environment, agent, rights: { tools: "*", roots: [] }, offeredTools: ["echo", "write"] };
}

const modelWith = (facts?: ModelFacts): Model => ({
  estimate: () => ({ input_tokens: 0, output_tokens: 0, money_micro_usd: 0 }),
  call: () => assert.fail(),
  ...(facts === undefined ? {} : { facts: () => facts }),
});
const silent = modelWith();

test("tasks of one kind share a setup, and another definition, right or offer has its own", () => {
  const options = optionsFor({});
  const setup = agentSetup(options, silent);
  assert.equal(agentSetup({ ...options, rights: { ...options.rights, roots: ["/x"] } }, silent), setup);
  assert.notEqual(agentSetup({ ...options, offeredTools: ["echo"] }, silent), setup);
  assert.notEqual(agentSetup({ ...options, rights: { tools: ["echo"], roots: [] } }, silent), setup);
  assert.notEqual(agentSetup(optionsFor({}), silent), setup);
});

test("the definition decides before the file, the file before the model, the model before the defaults", () => {
  const plain = agentSetup(optionsFor({}), silent);
  assert.deepEqual(
    [plain.model, plain.format, plain.contextTokens, plain.maxTurns, plain.checkOutput],
    ["rehearsal/script", "native", 128_000, 50, undefined],
  );
  const facts = modelWith({ format: "fenced", contextTokens: 9_000, maxOutputTokens: 100 });
  const known = agentSetup(optionsFor({}, { model: "p/m" }), facts);
  assert.deepEqual([known.model, known.format, known.contextTokens], ["p/m", "fenced", 9_000]);
  const own = {
    model: "q/n",
    format: "native",
    context_tokens: 7_000,
    max_turns: 3,
    output_schema: { type: "string" },
  };
  const set = agentSetup(optionsFor(own, { model: "p/m" }), facts);
  assert.deepEqual([set.model, set.format, set.contextTokens, set.maxTurns], ["q/n", "native", 7_000, 3]);
  assert.deepEqual(set.checkOutput?.("fits"), []);
});

test("in the fenced format the system prompt teaches the tools, in the native one it is the instructions alone", () => {
  assert.equal(agentSetup(optionsFor({ format: "native" }), silent).system, "Be brief.");
  const { system, toolNames } = agentSetup(optionsFor({ format: "fenced" }), silent);
  assert.match(system, /^Be brief\.\n\n.*```tool/s);
  assert.deepEqual([...toolNames], ["write", "echo", "final"]);
});

test("the profile of the definition goes before that of the model, and tolerant is the default", () => {
  const facts = modelWith({ format: "fenced", profile: "strict", contextTokens: null, maxOutputTokens: 100 });
  assert.equal(agentSetup(optionsFor({}), silent).profile, "tolerant");
  assert.equal(agentSetup(optionsFor({}), facts).profile, "strict");
  assert.equal(agentSetup(optionsFor({ profile: "tolerant" }), facts).profile, "tolerant");
});

test("effort, temperature and provider options are those of the definition, else those of the file", () => {
  const file = { effort: "low", temperature: 0.1 };
  const { callSettings } = agentSetup(optionsFor({ effort: "high", provider_options: { seed: 1 } }, file), silent);
  assert.deepEqual(callSettings, { effort: "high", temperature: 0.1, providerOptions: { seed: 1 } });
  assert.deepEqual(agentSetup(optionsFor({}), silent).callSettings, {});
});
