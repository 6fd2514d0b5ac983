import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import fc from "../../../test/support/properties.ts";

import { world } from "../../../test/support/agent-kit.ts";
import { led, worker } from "../../../test/support/lead-and-worker.ts";
import { mayUse, narrow } from "../../core/rights.ts";
import { ToolPolicy, ToolsConfig } from "../../protocol/invocation/tool-policy.ts";
import { InvocationFile } from "../../protocol/invocation/invocation-file.ts";
import { named, single } from "../../protocol/invocation/invocation-builders.ts";
import { findAgent } from "./find-agent.ts";
import { resolveTools } from "./resolve-tools.ts";
import { builtinTools, agentEnvironment } from "../agent-environment.ts";
import { echo } from "../tools/echo.ts";
import type { Tool } from "../tools/tool.ts";

const external = [{ name: "weather", description: "" }];
const names = [...builtinTools.map((tool) => tool.name), "invoke_agent", "handover", "weather"];
const list = fc.uniqueArray(fc.constantFrom(...names), { maxLength: 6 });
const toolLists = fc.oneof(fc.constant("*" as const), list);

test("invariant 6: whatever the policy, the agent and the caller, no tool goes beyond the caller's rights", () => {
  const policies = fc.oneof(
    fc.constant({ kind: "inherit" as const }),
    fc.constant({ kind: "none" as const }),
    list.map((tools) => ({ kind: "exact" as const, tools })),
  );
  const refs = fc.constantFrom("listed", "open", "ad_hoc");
  let resolved = 0;
  fc.assert(
    fc.property(toolLists, toolLists, list, fc.tuple(policies, refs), (have, offeredTools, own, [policy, which]) => {
      const file = InvocationFile.parse({
        invocation: single(named("listed", "x")),
        agents: { listed: { instructions: "x", tools: own }, open: { instructions: "x" } },
        external_tools: external,
      });
      const rights = { tools: have, roots: ["/r"] };
      const ref =
        which === "ad_hoc"
          ? { type: "ad_hoc" as const, system_prompt: "x" }
          : { type: "named" as const, agent_id: which };
      const agent = findAgent(file, ref);
      assert.ok(agent !== undefined);
      const resolution = resolveTools(
        { file, environment: agentEnvironment(), rights, offeredTools },
        { ref, agent },
        ToolPolicy.parse(policy),
      );
      if (!resolution.ok) return;
      resolved += 1;
      assert.ok(narrow(rights, resolution.access.rights).ok);
      const usable = names.filter(
        (name) =>
          mayUse(resolution.access.rights, name) &&
          (resolution.access.offeredTools === "*" || resolution.access.offeredTools.includes(name)),
      );
      assert.ok(usable.every((name) => mayUse(rights, name)));
      if (policy.kind === "none") assert.ok(!usable.includes("weather"));
      if (policy.kind === "exact" && !policy.tools.includes("invoke_agent")) {
        assert.deepEqual(usable.toSorted(), policy.tools.toSorted());
      }
    }),
    { numRuns: 500 },
  );
  assert.ok(resolved > 50, "enough of the cases are not refusals");
});

test("an ad-hoc agent of a caller that is offered everything gets only what the caller has a right to", () => {
  const file = InvocationFile.parse({ invocation: single(named("x", "x")), external_tools: external });
  const ref = { type: "ad_hoc" as const, system_prompt: "x" };
  const agent = findAgent(file, ref);
  assert.ok(agent !== undefined);
  const rights = { tools: ["echo", "invoke_agent", "weather"], roots: [] };
  const resolution = resolveTools(
    { file, environment: agentEnvironment(), rights, offeredTools: "*" },
    { ref, agent },
    { kind: "inherit" },
  );
  assert.deepEqual(resolution, {
    ok: true,
    access: { rights: { tools: ["echo", "weather"], roots: [] }, offeredTools: ["echo", "weather"] },
  });
});

test("an ad-hoc configuration with tools nobody can bring is refused", () => {
  const file = InvocationFile.parse({ invocation: single(named("x", "x")) });
  const tools = ToolsConfig.parse({ dynamic: [{ name: "x", type: "http", config: {} }] });
  const ref = { type: "ad_hoc" as const, system_prompt: "x", tools };
  const agent = findAgent(file, ref);
  assert.ok(agent !== undefined);
  const caller = {
    file,
    environment: agentEnvironment(),
    rights: { tools: "*" as const, roots: [] },
    offeredTools: "*" as const,
  };
  const resolution = resolveTools(caller, { ref, agent }, { kind: "inherit" });
  assert.ok(!resolution.ok && /cannot have dynamic tools/.test(resolution.message));
});

test("policy none leaves an agent its own built-in tools and nothing of the client's", async (t) => {
  const w = await world(t);
  const base = {
    invocation: { ...single(named("worker", "go")), tools: { kind: "none" } },
    external_tools: [{ name: "weather", description: "" }],
    script: {
      rules: [{ turn: 0, call: [{ tool: "weather" }, { tool: "echo", args: { text: "hi" } }] }, { say: "{{last}}" }],
    },
  };
  const own = await w.scalar({ ...base, agents: { worker: { ...worker, tools: ["echo", "weather"] } } });
  assert.match(String(own.content), /you may not use weather.*\nhi$/s);
  const bare = await w.scalar({ ...base, agents: { worker } });
  assert.match(String(bare.content), /you may not use weather.*\nhi$/s, "an agent that lists none keeps them all");
});

test("an exact policy that names a tool nobody has is refused", async (t) => {
  const w = await world(t);
  const invocation = { ...single(named("worker", "a")), tools: { kind: "exact", tools: ["ehco"] } };
  assert.match((await w.refused({ invocation, agents: { worker } })).message, /there is no tool ehco/);
});

test("an ad-hoc agent gets what its maker is offered, without the means to call others", async (t) => {
  const w = await world(t);
  const file = led({ delegate: [{ system: "You echo.", prompt: "go" }] }, { tools: ["invoke_agent", "echo"] });
  file.script.rules.push(
    {
      agent: "_ad_hoc",
      turn: 0,
      call: [
        { tool: "echo", args: { text: "hi" } },
        { tool: "invoke_agent", args: { prompt: "x" } },
        { tool: "write_file", args: { path: "x", content: "" } },
      ],
    },
    { agent: "_ad_hoc", final: "{{last}}" },
  );
  const { content } = await w.scalar(file);
  assert.match(String(content), /hi.*you may not use invoke_agent.*you may not use write_file/s);
});

test("a tool outside the policy is refused to the model and does not run, external tools included", async (t) => {
  const w = await world(t);
  const file = {
    invocation: { ...single(named("worker", "go")), tools: { kind: "exact", tools: ["echo"] } },
    agents: { worker },
    external_tools: [{ name: "weather", description: "" }],
    roots: ["out"],
    script: {
      rules: [
        {
          turn: 0,
          call: [
            { tool: "write_file", args: { path: "a", content: "a" } },
            { tool: "weather" },
            { tool: "echo", args: { text: "hi" } },
          ],
        },
        { say: "{{last}}" },
      ],
    },
  };
  const { content } = await w.scalar(file);
  assert.match(String(content), /you may not use write_file.*you may not use weather.*hi$/s);
  assert.equal(existsSync(join(w.folder, "out", "a")), false);
});

test("a grandchild that lists no tools still has no more than its caller was given (invariant 6)", async (t) => {
  const w = await world(t);
  const file = led({ delegate: [{ agent: "worker", prompt: "x" }] });
  file.script.rules[2] = {
    agent: "worker",
    turn: 0,
    call: [{ tool: "write_file", args: { path: "x", content: "x" } }],
  };
  file.script.rules.push({ agent: "worker", final: "{{last}}" });
  const invocation = { ...file.invocation, tools: { kind: "exact", tools: ["invoke_agent", "echo"] } };
  const { content } = await w.scalar({ ...file, invocation, roots: ["out"] });
  assert.match(String(content), /you may not use write_file; there are: echo/);
  assert.equal(existsSync(join(w.folder, "out")), false);
});

test("tools of MCP servers are named one by one, by server or by pattern, and those that are not there are left out", () => {
  const tool = (name: string, server: string, onlyNamed = false): Tool => {
    return { ...echo, name, server: { name: server, onlyNamed } };
  };
  const tools = [
    ...agentEnvironment().tools,
    tool("mcp__git__log", "git"),
    tool("mcp__git__push", "git"),
    tool("mcp__own__x", "own", true),
  ];
  const caller = {
    file: InvocationFile.parse({ invocation: single(named("x", "x")) }),
    environment: agentEnvironment({ tools }),
    rights: { tools: "*" as const, roots: [] },
    offeredTools: "*" as const,
  };
  const given = (listed: string[]): unknown => {
    const resolution = resolveTools(caller, target(listed), { kind: "inherit" });
    return resolution.ok ? resolution.access.offeredTools : resolution.message;
  };
  const target = (listed: string[]): Parameters<typeof resolveTools>[1] => ({
    ref: { type: "named", agent_id: "x" },
    agent: { id: "x", instructions: "x", definition: { instructions: "x", tools: listed } },
  });
  assert.deepEqual(given(["mcp__git"]), ["mcp__git__log", "mcp__git__push"]);
  assert.deepEqual(given(["mcp__git__*", "echo"]), ["mcp__git__log", "mcp__git__push", "echo"]);
  assert.deepEqual(given(["mcp__git__log", "mcp__git__gone", "mcp__other"]), ["mcp__git__log"]);
  const ref = {
    type: "ad_hoc" as const,
    system_prompt: "x",
    tools: ToolsConfig.parse({ mcp: [{ server: "git", exclude: ["p*"] }, { server: "own" }] }),
  };
  const agent = findAgent(caller.file, ref);
  assert.ok(agent !== undefined);
  const resolution = resolveTools(caller, { ref, agent }, { kind: "inherit" });
  assert.ok(resolution.ok);
  assert.deepEqual(resolution.access.rights.tools, ["mcp__git__log"]);
});
