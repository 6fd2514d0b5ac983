import assert from "node:assert/strict";
import { test } from "node:test";

import { InvocationFile } from "../../protocol/invocation/invocation-file.ts";
import { named, single } from "../../protocol/invocation/invocation-builders.ts";
import { builtinTools } from "../agent-environment.ts";
import { loopToolNames, loopTools } from "./loop-tools.ts";

const file = InvocationFile.parse({
  invocation: single(named("lead", "go")),
  agents: {
    lead: { instructions: "x", handover: ["editor"] },
    editor: { instructions: "x", description: "edits texts" },
    tester: { instructions: "x" },
  },
});
const lead = file.agents["lead"] ?? assert.fail();

test("no built-in tool has the name of one of the loop's own", () => {
  const builtin = new Set(builtinTools.map((tool) => tool.name));
  assert.deepEqual(
    loopToolNames.filter((name) => builtin.has(name)),
    [],
  );
});

test("the loop's tools name the agents that can be called and those that take a handover", () => {
  const describe = (definition: typeof lead): Record<string, string> =>
    Object.fromEntries(loopTools(file, definition).map(({ name, description }) => [name, description]));
  const all = describe(lead);
  assert.match(all["invoke_agent"] ?? "", /Agents you can name: lead, editor \(edits texts\), tester\.$/);
  assert.match(all["handover"] ?? "", /to one of: editor\./);
  assert.match(describe({ ...lead, sub_agents: ["tester"] })["invoke_agent"] ?? "", /name: tester\.$/);
  assert.doesNotMatch(describe({ ...lead, sub_agents: [] })["invoke_agent"] ?? "", /Agents you can name/);
});

test("each of the loop's tools has parameters of its own, made once", () => {
  const first = loopTools(file, lead);
  assert.deepEqual(first.map(({ name }) => name).toSorted(), loopToolNames.toSorted());
  loopTools(file, lead).forEach((tool, index) => assert.equal(tool.parameters, first[index]?.parameters));
});
