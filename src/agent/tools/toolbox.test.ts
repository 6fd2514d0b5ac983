import assert from "node:assert/strict";
import { test } from "node:test";

import { InvocationFile } from "../../protocol/invocation/invocation-file.ts";
import { named, single } from "../../protocol/invocation/invocation-builders.ts";
import { agentEnvironment } from "../agent-environment.ts";
import { makeToolbox, type ToolboxOptions } from "./toolbox.ts";

const environment = agentEnvironment();

function toolboxWith(options: Partial<ToolboxOptions>, definition: object = {}) {
  const file = InvocationFile.parse({
    invocation: single(named("a", "go")),
    agents: { a: { instructions: "x", ...definition }, helper: { instructions: "x", description: "helps" } },
    external_tools: [{ name: "weather", description: "Tells the weather." }],
  });
  const own = file.agents["a"] ?? assert.fail();
  const rights = { tools: "*" as const, roots: [] };
  return makeToolbox({ file, environment, definition: own, rights, offeredTools: "*", ...options });
}

const namesIn = ({ declarations }: ReturnType<typeof makeToolbox>): string[] => declarations.map(({ name }) => name);

test("an agent is shown what it is offered and has a right to, and always final", () => {
  const offered = toolboxWith({ offeredTools: ["echo", "weather", "write"] });
  assert.deepEqual(namesIn(offered), ["write", "echo", "weather", "final"]);
  const allowed = toolboxWith({ offeredTools: ["echo", "weather"], rights: { tools: ["echo"], roots: [] } });
  assert.deepEqual(namesIn(allowed), ["echo", "final"]);
  assert.deepEqual(namesIn(toolboxWith({ offeredTools: [] })), ["final"]);
});

test("a call finds its tool, and an unknown or withheld one is told with the tools there are", () => {
  const toolbox = toolboxWith({ offeredTools: ["echo", "sleep", "weather"] });
  const kindOf = (name: string): string => toolbox.find(name).kind;
  assert.deepEqual(["echo", "sleep", "weather", "final"].map(kindOf), ["step", "durable", "external", "final"]);
  assert.deepEqual(toolbox.find("fly"), {
    kind: "unknown",
    message: "there is no tool fly; there are: echo, sleep, weather, final",
  });
  assert.deepEqual(toolbox.find("write"), {
    kind: "refused",
    message: "you may not use write; there are: echo, sleep, weather, final",
  });
});

test("handover comes with the agents a definition lists, and needs the right to it", () => {
  assert.equal(toolboxWith({}).find("handover").kind, "refused");
  const listing = { handover: ["helper"] };
  assert.equal(toolboxWith({ offeredTools: ["echo"] }, listing).find("handover").kind, "handover");
  assert.equal(toolboxWith({ rights: { tools: ["echo"], roots: [] } }, listing).find("handover").kind, "refused");
});

test("write_file is shown only to an agent that does not have write, and works for both", () => {
  assert.ok(!namesIn(toolboxWith({})).includes("write_file"));
  assert.equal(toolboxWith({}).find("write_file").kind, "step");
  assert.deepEqual(namesIn(toolboxWith({ offeredTools: ["write_file"] })), ["write_file", "final"]);
});

test("tools that wait are known, so that calling them again is no sign of a loop", () => {
  const toolbox = toolboxWith({});
  assert.deepEqual(
    ["sleep", "ask", "wait_task", "echo", "read_result", "fly"].map((name) => toolbox.waits(name)),
    [true, true, true, false, false, false],
  );
});
