import assert from "node:assert/strict";
import { test } from "node:test";

import { failsWith } from "../../../test/support/try-tool.ts";
import { InvocationFile } from "../../protocol/invocation/invocation-file.ts";
import { named, single } from "../../protocol/invocation/invocation-builders.ts";
import { checkInvocation } from "./check-invocation.ts";
import { invocationTask } from "./root-task.ts";

const environment = {
  runners: [
    { kind: "command", runtime: "command" },
    { kind: "operator", runtime: "operator" },
  ],
};

function checked(more: object = {}, executor: object = { kind: "auto" }) {
  const file = InvocationFile.parse({
    invocation: { ...single(named("a", "go")), executor },
    agents: { a: { instructions: "x" } },
    roots: ["sub"],
    ...more,
  });
  return checkInvocation(file, invocationTask(file, { folder: "/project" }), environment);
}

const remote = (kind: string, config: object) => ({ kind: "force", type: "remote", runner: { kind, config } });

test("a good invocation gives the tasks it would create", () => {
  const children = checked();
  assert.deepEqual(
    children.map(({ agent, runner, rights }) => ({ agent, runner, rights })),
    [{ agent: "a", runner: { kind: "local", config: {} }, rights: { tools: "*", roots: ["/project/sub"] } }],
  );
  assert.equal(checked({}, remote("command", { argv: ["true"] }))[0]?.runner.kind, "command");
});

test("every mistake is invalid input, whatever its own code would be", () => {
  assert.throws(() => checked({ agents: {} }), failsWith("invalid_input", /there is no agent a/));
  assert.throws(() => checked({}, remote("ship", {})), failsWith("invalid_input", /there is no runner "ship"/));
  const external_tools = [{ name: "handover", description: "" }];
  assert.throws(() => checked({ external_tools }), failsWith("invalid_input", /handover has the name of a built-in/));
});

test("the config of a target's runner is checked before anything starts", () => {
  const wrong = failsWith("invalid_input", /the command runner's config cannot be used: .*argv/);
  assert.throws(() => checked({}, remote("command", { argv: [] })), wrong);
  const late = failsWith("invalid_input", /the operator runner's config cannot be used: .*deadline/);
  assert.throws(() => checked({}, remote("operator", { deadline: 1 })), late);
});
