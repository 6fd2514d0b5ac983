import assert from "node:assert/strict";
import { test } from "node:test";

import { InvocationFile, type AgentDefinition } from "../../protocol/invocation/invocation-file.ts";
import { agentRun } from "./single-agent.ts";

const agents = new Map<string, AgentDefinition>([
  ["lead", { instructions: "l", tools: ["invoke_agent"], sub_agents: ["worker"], budget: { tokens: 5 } }],
  ["worker", { instructions: "w", tools: ["read"], handover: ["other"], model: "small" }],
  ["other", { instructions: "o", tools: [] }],
  ["open", { instructions: "x" }],
]);
const run = { prompt: "go", folder: "/p", resolve: (name: string) => `provider/${name}` };

test("a run carries the agents it can reach and no others, so that changing others makes no other run of it", () => {
  const file = agentRun(agents, { ...run, agent: "lead" });
  assert.deepEqual(Object.keys(file.agents), ["lead", "other", "worker"]);
  assert.deepEqual(Object.keys(agentRun(agents, { ...run, agent: "other" }).agents), ["other"]);
  assert.deepEqual(Object.keys(agentRun(agents, { ...run, agent: "open" }).agents), [
    "lead",
    "open",
    "other",
    "worker",
  ]);
  assert.deepEqual(InvocationFile.parse(JSON.parse(JSON.stringify(file))), file);
});

test("models are written out by their full names, and one given for the run is the agent's own", () => {
  const file = agentRun(agents, { ...run, agent: "worker", model: "big", defaultModel: "usual" });
  assert.equal(file.agents["worker"]?.model, "provider/big");
  assert.equal(file.model, "provider/big");
  const usual = agentRun(agents, { ...run, agent: "lead", defaultModel: "usual" });
  assert.equal(usual.agents["worker"]?.model, "provider/small");
  assert.equal(usual.agents["lead"]?.model, undefined);
  assert.equal(usual.model, "provider/usual");
});

test("the agent's limits are those of the tree, and the folder is the only one it may touch", () => {
  const file = agentRun(agents, { ...run, agent: "lead" });
  assert.deepEqual(file.budget, { tokens: 5 });
  assert.deepEqual(file.roots, ["/p"]);
});
