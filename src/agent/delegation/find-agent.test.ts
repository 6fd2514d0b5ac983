import assert from "node:assert/strict";
import { test } from "node:test";

import { InvocationFile } from "../../protocol/invocation/invocation-file.ts";
import { named, single } from "../../protocol/invocation/invocation-builders.ts";
import { adHocAgent, baseAgent, callableAgents, findAgent } from "./find-agent.ts";

const file = InvocationFile.parse({
  invocation: single(named("a", "go")),
  agents: { a: { instructions: "Work." }, b: { instructions: "Rest." } },
});

test("what a reference adds comes after the instructions and replaces nothing", () => {
  assert.equal(findAgent(file, { type: "named", agent_id: "a" })?.instructions, "Work.");
  const overlaid = findAgent(file, { type: "named", agent_id: "a", instructions_overlay: "Hurry." });
  assert.equal(overlaid?.instructions, "Work.\n\nHurry.");
  const adHoc = findAgent(file, { type: "ad_hoc", system_prompt: "Count." });
  assert.equal(adHoc?.id, adHocAgent);
  assert.match(adHoc?.instructions ?? "", /^You do one task.*\n\nCount\.$/s);
});

test("the base agent is always there, may be defined by the file, and a property of objects is no agent", () => {
  assert.match(findAgent(file, { type: "named", agent_id: baseAgent })?.instructions ?? "", /^You do one task/);
  const own = InvocationFile.parse({ ...file, agents: { [baseAgent]: { instructions: "Mine." } } });
  assert.equal(findAgent(own, { type: "named", agent_id: baseAgent })?.instructions, "Mine.");
  assert.equal(findAgent(file, { type: "named", agent_id: "toString" }), undefined);
});

test("an agent may call those it lists of the ones there are, and all when it lists none", () => {
  assert.deepEqual(callableAgents(file, { instructions: "" }), ["a", "b"]);
  assert.deepEqual(callableAgents(file, { instructions: "", sub_agents: ["b", "gone"] }), ["b"]);
});
