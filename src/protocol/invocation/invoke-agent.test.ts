import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "../../../test/support/properties.ts";
import { z } from "zod";
import { validateInvocation } from "./invocation-rules.ts";
import type { Invocation } from "./invocation.ts";
import { InvokeAgentInput, readInvokeAgent, toInvocation } from "./invoke-agent.ts";

const faults = (value: unknown): string[] => {
  const reading = readInvokeAgent(value);
  return reading.ok ? [] : reading.issues.map(({ path }) => path);
};

function translate(value: unknown): Invocation {
  const reading = readInvokeAgent(value);
  assert.ok(reading.ok);
  return toInvocation(reading.input, { defaultAgent: "coder" });
}

test("a prompt alone calls the default agent and waits", () => {
  const { targets, join } = translate({ prompt: "do it" });
  assert.deepEqual([targets[0]?.agent, join], [{ type: "named", agent_id: "coder" }, "single"]);
});

test("an agent is called by name, a system prompt makes an ad-hoc one", () => {
  assert.deepEqual(translate({ prompt: "p", agent: "tester" }).targets[0]?.agent, {
    type: "named",
    agent_id: "tester",
  });
  assert.deepEqual(translate({ prompt: "p", system: "be x" }).targets[0]?.agent, {
    type: "ad_hoc",
    system_prompt: "be x",
  });
});

test("wait joins, background detaches", () => {
  assert.equal(translate({ prompt: "p", mode: "wait" }).join, "single");
  assert.equal(translate({ prompt: "p", mode: "background" }).join, "detached");
});

test("null stands for an absent field", () => {
  assert.deepEqual(translate({ prompt: "p", agent: null, system: null, mode: null }), translate({ prompt: "p" }));
});

test("the definition of the calling agent sets context, executor and tools", () => {
  const reading = readInvokeAgent({ prompt: "p" });
  assert.ok(reading.ok);
  const { context, tools } = toInvocation(reading.input, {
    defaultAgent: "coder",
    context: "inherited",
    tools: { kind: "none" },
  });
  assert.deepEqual([context, tools], ["inherited", { kind: "none" }]);
});

test("the schema shown to a model has these four fields, needs only the prompt and allows nothing else", () => {
  const schema = z.toJSONSchema(InvokeAgentInput);
  assert.deepEqual(
    [Object.keys(schema.properties ?? {}), schema.required, schema.additionalProperties],
    [["prompt", "agent", "system", "mode"], ["prompt"], false],
  );
});

test("a missing or blank prompt is refused", () => {
  assert.deepEqual(faults({}), ["prompt"]);
  assert.deepEqual(faults({ prompt: " \n" }), ["prompt"]);
});

test("agent and system together are refused, and so is a blank one", () => {
  assert.deepEqual(faults({ prompt: "p", agent: "a", system: "s" }), ["system"]);
  assert.deepEqual(faults({ prompt: "p", agent: " " }), ["agent"]);
});

test("invented fields are refused by name", () => {
  const reading = readInvokeAgent({ prompt: "p", targets: [], context: "shared" });
  assert.ok(!reading.ok);
  assert.match(reading.issues[0]?.message ?? "", /"targets", "context"/);
});

test("an unknown mode is refused", () => {
  assert.deepEqual(faults({ prompt: "p", mode: "detached" }), ["mode"]);
});

test("whatever is accepted translates to a valid invocation, and nothing makes reading throw", () => {
  const text = fc.option(fc.string(), { nil: undefined });
  const shaped = fc.record({
    prompt: fc.string(),
    agent: text,
    system: text,
    mode: fc.constantFrom("wait", "background"),
  });
  fc.assert(
    fc.property(fc.oneof(shaped, fc.jsonValue()), (value) => {
      const reading = readInvokeAgent(value);
      if (!reading.ok) return assert.ok(reading.issues.length > 0);
      const invocation = toInvocation(reading.input, { defaultAgent: "coder" });
      assert.equal(validateInvocation(invocation, { parent: false }), undefined);
    }),
    { numRuns: 300 },
  );
});
