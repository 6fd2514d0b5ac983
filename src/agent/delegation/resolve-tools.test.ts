import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";

import { mayUse, narrow } from "../../core/rights.ts";
import { ToolPolicy, ToolsConfig } from "../../protocol/invocation/tool-policy.ts";
import { InvocationFile } from "../../protocol/invocation/invocation-file.ts";
import { named, single } from "../../protocol/invocation/invocation-builders.ts";
import { findAgent } from "./find-agent.ts";
import { resolveTools } from "./resolve-tools.ts";
import { builtinTools, agentEnvironment } from "../agent-environment.ts";

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
  const tools = ToolsConfig.parse({ mcp: [{ server: "s" }] });
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
  assert.ok(!resolution.ok && /cannot have dynamic or mcp tools/.test(resolution.message));
});
