import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";

import { mayUse, narrow } from "../../core/rights.ts";
import { ToolPolicy, ToolsConfig } from "../../protocol/invocation/tool-policy.ts";
import { InvocationFile } from "../../protocol/invocation/invocation-file.ts";
import { named, single } from "../../protocol/invocation/invocation-builders.ts";
import { findAgent } from "./find-agent.ts";
import { grantTools } from "./grant.ts";
import { builtinTools, agentEnvironment } from "../agent-environment.ts";

const external = [{ name: "weather", description: "" }];
const names = [...builtinTools.map((tool) => tool.name), "invoke_agent", "handover", "weather"];
const list = fc.uniqueArray(fc.constantFrom(...names), { maxLength: 6 });
const offers = fc.oneof(fc.constant("*" as const), list);

test("under any policy and for any agent, what is granted never goes beyond the caller's rights (invariant 6)", () => {
  const policies = fc.oneof(
    fc.constant({ kind: "inherit" as const }),
    fc.constant({ kind: "none" as const }),
    list.map((tools) => ({ kind: "exact" as const, tools })),
  );
  const refs = fc.constantFrom("listed", "open", "ad_hoc");
  let granted = 0;
  fc.assert(
    fc.property(offers, offers, list, fc.tuple(policies, refs), (have, offer, own, [policy, which]) => {
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
      const granting = grantTools(
        { file, environment: agentEnvironment(), rights, offer },
        { ref, agent },
        ToolPolicy.parse(policy),
      );
      if (!granting.ok) return;
      granted += 1;
      assert.ok(narrow(rights, granting.grant.rights).ok);
      const usable = names.filter(
        (name) =>
          mayUse(granting.grant.rights, name) && (granting.grant.offer === "*" || granting.grant.offer.includes(name)),
      );
      assert.ok(usable.every((name) => mayUse(rights, name)));
      if (policy.kind === "none") assert.ok(!usable.includes("weather"));
      if (policy.kind === "exact" && !policy.tools.includes("invoke_agent")) {
        assert.deepEqual(usable.toSorted(), policy.tools.toSorted());
      }
    }),
    { numRuns: 500 },
  );
  assert.ok(granted > 50, "enough of the cases are not refusals");
});

test("an ad-hoc agent of a caller that is offered everything gets only what the caller has a right to", () => {
  const file = InvocationFile.parse({ invocation: single(named("x", "x")), external_tools: external });
  const ref = { type: "ad_hoc" as const, system_prompt: "x" };
  const agent = findAgent(file, ref);
  assert.ok(agent !== undefined);
  const rights = { tools: ["echo", "invoke_agent", "weather"], roots: [] };
  const granting = grantTools(
    { file, environment: agentEnvironment(), rights, offer: "*" },
    { ref, agent },
    { kind: "inherit" },
  );
  assert.deepEqual(granting, {
    ok: true,
    grant: { rights: { tools: ["echo", "weather"], roots: [] }, offer: ["echo", "weather"] },
  });
});

test("an ad-hoc configuration with tools nobody can bring is refused", () => {
  const file = InvocationFile.parse({ invocation: single(named("x", "x")) });
  const tools = ToolsConfig.parse({ mcp: [{ server: "s" }] });
  const ref = { type: "ad_hoc" as const, system_prompt: "x", tools };
  const agent = findAgent(file, ref);
  assert.ok(agent !== undefined);
  const granter = {
    file,
    environment: agentEnvironment(),
    rights: { tools: "*" as const, roots: [] },
    offer: "*" as const,
  };
  const granting = grantTools(granter, { ref, agent }, { kind: "inherit" });
  assert.ok(!granting.ok && /cannot have dynamic or mcp tools/.test(granting.message));
});
