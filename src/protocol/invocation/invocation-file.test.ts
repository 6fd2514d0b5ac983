import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "../../../test/support/properties.ts";

import { named, single } from "./invocation-builders.ts";
import { readInvocationFile } from "./invocation-file.ts";

const invocation = single(named("a", "go"));

function issues(value: unknown): string {
  const reading = readInvocationFile(typeof value === "string" ? value : JSON.stringify(value));
  assert.ok(!reading.ok);
  return reading.issues.map(({ path, message }) => `${path}: ${message}`).join("\n");
}

test("only the invocation is required", () => {
  const reading = readInvocationFile(JSON.stringify({ invocation: { targets: invocation.targets } }));
  assert.ok(reading.ok);
  assert.deepEqual(reading.file, { invocation, agents: {}, external_tools: [], roots: [] });
});

test("unknown fields of the invocation are warnings, ours are errors", () => {
  const reading = readInvocationFile(JSON.stringify({ invocation: { ...invocation, colour: "red" } }));
  assert.ok(reading.ok);
  assert.deepEqual(reading.warnings, [{ path: "invocation.colour", message: "is not a known field and was ignored" }]);
  assert.match(issues({ invocation, colour: "red" }), /colour/);
  assert.match(issues({ invocation, agents: { a: { instructions: "x", tool: [] } } }), /agents\.a.*tool/);
  assert.match(
    issues({ invocation, external_tools: [{ name: "a", description: "", secret: 1 }] }),
    /external_tools\[0\]/,
  );
});

test("every problem is named, in the invocation and around it", () => {
  const said = issues({
    invocation: { targets: [{ agent: { type: "robot" }, message: {} }] },
    agents: { a: {} },
    roots: [1],
  });
  assert.match(said, /agents\.a\.instructions/);
  assert.match(said, /roots\[0\]/);
  assert.match(said, /invocation\.targets\[0\]\.agent/);
});

test("a script's problem names its rule", () => {
  assert.match(issues({ invocation, script: { rules: [{ say: "x" }, { say: 3 }] } }), /script\.rules\[1\]\.say/);
});

test("an external tool registered twice is an error", () => {
  const tool = { name: "weather", description: "" };
  assert.match(issues({ invocation, external_tools: [tool, tool] }), /weather is listed twice/);
});

test("text that is not JSON, and JSON that is no object, are issues", () => {
  assert.match(issues("{"), /is not JSON/);
  for (const value of ["null", "3", "[]", '"x"', "{}"]) assert.match(issues(value), /invocation/);
});

test("it never throws, whatever the JSON", () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 4 }), fc.jsonValue({ maxDepth: 3 }), (value, agents) => {
      readInvocationFile(JSON.stringify(value));
      readInvocationFile(JSON.stringify({ invocation: value, agents, script: agents }));
    }),
    { numRuns: 300 },
  );
});

test("a tree names the operators that have a say in it, by a name, a sid, or not at all", () => {
  const operators = { gate: "reviewer", senior: "op-0a1b2c3d-0000-4000-8000-0123456789ab" };
  const reading = readInvocationFile(JSON.stringify({ invocation, operators }));
  assert.ok(reading.ok);
  assert.deepEqual(reading.file.operators, operators);
  assert.match(issues({ invocation, operators: { gate: " " } }), /operators\.gate/);
  assert.match(issues({ invocation, operators: { gates: "x" } }), /gates/);
});
