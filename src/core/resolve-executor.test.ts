import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "../../test/support/properties.ts";
import type { ExecutorHint } from "../protocol/invocation/executor.ts";
import { resolveExecutor, type ExecutorRequest } from "./resolve-executor.ts";

const auto: ExecutorHint = { kind: "auto" };
const forceLocal: ExecutorHint = { kind: "force", type: "local" };
const forceTo = (kind: string): ExecutorHint => ({ kind: "force", type: "remote", runner: { kind, config: { a: 1 } } });
const house: ExecutorRequest = {
  invocation: auto,
  agentRuntimes: [],
  callerRuntimes: ["local"],
  runners: [
    { kind: "acp", runtime: "acp" },
    { kind: "sandbox", runtime: "cli" },
    { kind: "k8s", runtime: "cli" },
  ],
};
const local = { ok: true, executor: { type: "local" } };
const remote = (kind: string, config: unknown = {}) => ({
  ok: true,
  executor: { type: "remote", runner: { kind, config } },
});

test("an agent that names no runtime runs here", () => {
  assert.deepEqual(resolveExecutor(house), local);
});

test("an agent that can run in the caller's runtime runs here, wherever that stands in its list", () => {
  assert.deepEqual(resolveExecutor({ ...house, agentRuntimes: ["cli", "local"] }), local);
});

test("an agent that cannot goes to the first runner that gives it a runtime", () => {
  assert.deepEqual(resolveExecutor({ ...house, agentRuntimes: ["cli"] }), remote("sandbox"));
});

test("a forced local executor overrides the agent's runtimes", () => {
  assert.deepEqual(resolveExecutor({ ...house, invocation: forceLocal, agentRuntimes: ["cli"] }), local);
});

test("a forced runner is used with its config, whatever the agent's runtimes", () => {
  assert.deepEqual(resolveExecutor({ ...house, invocation: forceTo("k8s") }), remote("k8s", { a: 1 }));
});

test("a target's hint replaces the invocation's entirely, auto included", () => {
  assert.deepEqual(resolveExecutor({ ...house, invocation: forceTo("k8s"), target: auto }), local);
  assert.deepEqual(
    resolveExecutor({ ...house, invocation: forceLocal, target: forceTo("acp") }),
    remote("acp", { a: 1 }),
  );
});

test("an unknown runner kind is an error that names it and the runners there are", () => {
  const resolution = resolveExecutor({ ...house, invocation: forceTo("fly") });
  assert.ok(!resolution.ok);
  assert.equal(resolution.error.kind, "unknown_runner");
  assert.match(resolution.error.message, /"fly".*acp \(acp\), sandbox \(cli\), k8s \(cli\)/);
});

test("when nothing fits, the error names the agent's, the caller's and the runners' sets", () => {
  const resolution = resolveExecutor({ ...house, agentRuntimes: ["browser", "phone"], runners: [] });
  assert.ok(!resolution.ok);
  assert.deepEqual(resolution.error, {
    kind: "no_common_runtime",
    message:
      "nothing here can run this agent: the agent runs in browser, phone; the caller offers local; available runners: none",
    agentRuntimes: ["browser", "phone"],
    callerRuntimes: ["local"],
    runners: [],
  });
});

test("a handover is refused where it would leave this orchestrator", () => {
  const away = resolveExecutor({ ...house, agentRuntimes: ["cli"], localOnly: true });
  assert.ok(!away.ok && away.error.kind === "local_only");
  assert.deepEqual(resolveExecutor({ ...house, localOnly: true }), local);
});

test("every request gives an executor that is allowed or an error that names all three sets", () => {
  const name = fc.constantFrom("local", "cli", "acp", "browser", "");
  const hint = fc.oneof(fc.constant(auto), fc.constant(forceLocal), name.map(forceTo));
  const request = fc.record({
    invocation: hint,
    target: fc.option(hint, { nil: undefined }),
    agentRuntimes: fc.array(name, { maxLength: 3 }),
    callerRuntimes: fc.array(name, { maxLength: 2 }),
    runners: fc.array(fc.record({ kind: name, runtime: name }), { maxLength: 3 }),
    localOnly: fc.boolean(),
  });
  fc.assert(
    fc.property(request, (given) => {
      const resolution = resolveExecutor(given);
      if (!resolution.ok) {
        const { message } = resolution.error;
        for (const runtime of [...given.agentRuntimes, ...given.callerRuntimes]) assert.ok(message.includes(runtime));
        for (const { kind, runtime } of given.runners) assert.ok(message.includes(`${kind} (${runtime})`));
        return;
      }
      if (resolution.executor.type === "local") return;
      const { kind } = resolution.executor.runner;
      assert.equal(given.localOnly, false);
      assert.ok(given.runners.some((runner) => runner.kind === kind));
      if ((given.target ?? given.invocation).kind === "auto") {
        assert.ok(given.runners.some((runner) => runner.kind === kind && given.agentRuntimes.includes(runner.runtime)));
        assert.ok(!given.agentRuntimes.some((runtime) => given.callerRuntimes.includes(runtime)));
      }
    }),
    { numRuns: 1000 },
  );
});

test("auto takes the runner that the agent names, with its config, also when the agent could run here", () => {
  const named = (kind: string): ExecutorRequest => ({ ...house, agentRunner: { kind, config: { image: "a" } } });
  assert.deepEqual(resolveExecutor(named("k8s")), remote("k8s", { image: "a" }));
  assert.deepEqual(resolveExecutor(named("local")), local);
  assert.deepEqual(resolveExecutor({ ...named("k8s"), invocation: forceLocal }), local);
  const refused = [named("fly"), { ...named("k8s"), agentRuntimes: ["acp"] }, { ...named("k8s"), localOnly: true }];
  assert.deepEqual(
    refused.map((request) => {
      const resolution = resolveExecutor(request);
      return resolution.ok ? "ok" : resolution.error.kind;
    }),
    ["unknown_runner", "no_common_runtime", "local_only"],
  );
});
