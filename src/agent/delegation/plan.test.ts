// What is refused before any task of an invocation exists, and what its tasks are made of.

import assert from "node:assert/strict";
import { test } from "node:test";

import { world } from "../../../test/support/agent-kit.ts";
import { led } from "../../../test/support/lead-and-worker.ts";
import { InvocationFile } from "../../protocol/invocation/invocation-file.ts";
import { detached, named, single } from "../../protocol/invocation/invocation-builders.ts";
import type { Invocation } from "../../protocol/invocation/invocation.ts";
import { agentEnvironment } from "../agent-environment.ts";
import type { Caller } from "./invocation-caller.ts";
import { planInvocation } from "./plan.ts";

const agents = {
  plain: { instructions: "x" },
  costly: { instructions: "x", tools: ["echo"], budget: { tokens: 10, tasks: 3 } },
};

function outside(invocation: Invocation, more: object = {}): Caller {
  return {
    file: InvocationFile.parse({ invocation, agents, ...more }),
    environment: agentEnvironment({ runners: [{ kind: "command", runtime: "command" }] }),
    rights: { tools: "*", roots: ["/work"] },
    offeredTools: "*",
    agent: undefined,
    now: 7,
  };
}

test("a plan holds one task per target, in order, and is the same when it is made again", () => {
  const invocation = detached([named("plain", "a"), named("costly", "b")], {});
  const plan = planInvocation(outside(invocation), invocation);
  assert.deepEqual(planInvocation(outside(invocation), invocation), plan);
  assert.ok(plan.ok);
  const shapes = plan.children.map(({ agent, runner, budget, detached: alone, rights, input }) => {
    const { tools, message, context } = input as { tools: unknown; message: { created_at?: number }; context: string };
    return { agent, kind: runner.kind, budget, alone, roots: rights.roots, tools, at: message.created_at, context };
  });
  const shared = { kind: "local", alone: true, roots: ["/work"], at: 7, context: "independent" };
  assert.deepEqual(shapes, [
    { ...shared, agent: "plain", budget: undefined, tools: "*" },
    { ...shared, agent: "costly", budget: { tokens: 10 }, tools: ["echo"] },
  ]);
});

test("the first target that is wrong refuses all of them, with a code and what there is instead", () => {
  const codeOf = (invocation: Invocation, more: object = {}): string => {
    const plan = planInvocation(outside(invocation, more), invocation);
    return plan.ok ? "planned" : `${plan.code}: ${plan.message}`;
  };
  const good = named("plain", "a");
  assert.equal(codeOf(single(good)), "planned");
  assert.equal(
    codeOf(detached([good, named("nobody", "b")], {})),
    "not_found: there is no agent nobody; there are: plain, costly",
  );
  assert.match(codeOf(single(named("plain", " "))), /^invalid_input: .*nothing in it/);
  const remote = { kind: "force" as const, type: "remote" as const, runner: { kind: "ship", config: {} } };
  assert.match(codeOf(single(good, { executor: remote })), /^not_found: there is no runner "ship"/);
  assert.match(
    codeOf(single(good, { tools: { kind: "exact", tools: ["fly"] } })),
    /^refused: plain: there is no tool fly/,
  );
  for (const name of ["echo", "final", "invoke_agent"]) {
    const clash = { external_tools: [{ name, description: "" }] };
    assert.match(codeOf(single(good), clash), new RegExp(`^invalid_input: external_tools: ${name} has the name of`));
  }
});

test("a definition's list of sub-agents is enforced, ad-hoc ones included", async (t) => {
  const w = await world(t);
  const calls = {
    delegate: [
      { agent: "worker", prompt: "a" },
      { system: "x", prompt: "b" },
    ],
  };
  const { content } = await w.scalar(led(calls, { sub_agents: [] }));
  assert.match(String(content), /lead may not call the agent worker.*lead may not call the agent _ad_hoc/s);
});

test("an external tool may not take the name of a built-in one", async (t) => {
  const w = await world(t);
  const error = await w.refused({
    ...led({}),
    external_tools: [{ name: "write_file", description: "" }],
    script: { rules: [] },
  });
  assert.match(error.message, /write_file has the name of a built-in tool/);
});
