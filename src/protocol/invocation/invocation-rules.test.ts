import assert from "node:assert/strict";
import { test } from "node:test";
import { adhoc, all, detached, named, single } from "./invocation-builders.ts";
import { describeInvocationError, validateInvocation, type InvocationError } from "./invocation-rules.ts";
import type { Invocation } from "./invocation.ts";

const check = (invocation: Invocation, parent = true): InvocationError | undefined =>
  validateInvocation(invocation, { parent });
const worker = named("worker", "hi");
const remote = { kind: "force", type: "remote", runner: { kind: "sandbox", config: {} } } as const;
const nowhere = { kind: "force", type: "remote", runner: { kind: " ", config: {} } } as const;

test("no targets is refused", () => {
  assert.deepEqual(check({ ...single(worker), targets: [] }), { kind: "no_targets" });
});

test("single with one target passes", () => {
  assert.equal(check(single(worker)), undefined);
});

test("single with two targets is refused and says how many", () => {
  assert.deepEqual(check({ ...single(worker), targets: [worker, worker] }), {
    kind: "single_needs_one_target",
    got: 2,
  });
});

test("all passes with one target and with many, detached too", () => {
  for (const targets of [[worker], [worker, worker, worker]]) {
    assert.equal(check(all(targets)), undefined);
    assert.equal(check(detached(targets)), undefined);
  }
});

test("an empty or blank agent id is refused", () => {
  for (const id of ["", " \t\n"]) {
    assert.deepEqual(check(single(named(id, "x"))), { kind: "named_empty_agent_id", target: 0 });
  }
});

test("an empty or blank ad-hoc prompt is refused", () => {
  for (const prompt of ["", "  "]) {
    assert.deepEqual(check(all([worker, adhoc(prompt, "x")])), { kind: "ad_hoc_empty_prompt", target: 1 });
  }
});

test("built and fully optioned invocations pass", () => {
  const options = {
    context: "inherited",
    executor: { kind: "force", type: "local" },
    tools: { kind: "exact", tools: ["Bash"] },
  } as const;
  assert.equal(
    check(all([worker, worker], { ...options, tools: { kind: "exact", tools: ["Bash"] } }), false),
    undefined,
  );
});

test("a message with nothing in it is refused", () => {
  assert.deepEqual(check(all([worker, named("w", " ")])), { kind: "empty_message", target: 1 });
});

test("a runner with a blank kind is refused, on the invocation and on a target", () => {
  assert.deepEqual(check(single(worker, { executor: nowhere })), { kind: "empty_runner_kind" });
  assert.deepEqual(check(all([worker, named("w", "x", { executor: nowhere })])), {
    kind: "empty_runner_kind",
    target: 1,
  });
});

test("an exact tool list may be empty but names no blank tool", () => {
  assert.equal(check(single(worker, { tools: { kind: "exact", tools: [] } })), undefined);
  assert.deepEqual(check(single(worker, { tools: { kind: "exact", tools: ["a", ""] } })), { kind: "empty_tool_name" });
});

test("shared passes for one named target of a calling task, also as all", () => {
  assert.equal(check(single(worker, { context: "shared" })), undefined);
  assert.equal(check(all([worker], { context: "shared" })), undefined);
});

test("shared is refused without a parent, with several targets, ad hoc, detached or remote", () => {
  const context = "shared" as const;
  assert.deepEqual(check(single(worker, { context }), false), { kind: "shared_needs_parent" });
  assert.deepEqual(check(all([worker, worker], { context })), { kind: "shared_needs_one_target", got: 2 });
  assert.deepEqual(check(single(adhoc("p", "x"), { context })), { kind: "shared_needs_named_agent" });
  assert.deepEqual(check(detached([worker], { context })), { kind: "shared_not_detached" });
  assert.deepEqual(check(single(worker, { context, executor: remote })), { kind: "shared_not_remote" });
});

test("a target's own executor decides whether shared would be remote", () => {
  const here = named("w", "x", { executor: { kind: "force", type: "local" } });
  const there = named("w", "x", { executor: remote });
  assert.equal(check(single(here, { context: "shared", executor: remote })), undefined);
  assert.deepEqual(check(single(there, { context: "shared" })), { kind: "shared_not_remote" });
});

test("inherited without a parent passes: there is just nothing to inherit", () => {
  assert.equal(check(single(worker, { context: "inherited" }), false), undefined);
});

test("faults are reported in a fixed order, identities of all targets before their messages", () => {
  const worst = { ...single(named("", "")), context: "shared" as const, executor: nowhere };
  assert.equal(check({ ...worst, targets: [] }, false)?.kind, "no_targets");
  assert.equal(check({ ...worst, targets: [named("", ""), adhoc("", "")] }, false)?.kind, "single_needs_one_target");
  assert.deepEqual(check({ ...worst, join: "all", targets: [named("a", ""), adhoc("", "")] }, false), {
    kind: "ad_hoc_empty_prompt",
    target: 1,
  });
  assert.equal(check({ ...worst, targets: [named("a", "")] }, false)?.kind, "empty_message");
  assert.equal(check({ ...worst, targets: [worker] }, false)?.kind, "empty_runner_kind");
});

test("a description names the target at fault and the number that was wrong", () => {
  assert.match(describeInvocationError({ kind: "empty_message", target: 3 }), /targets\[3\]/);
  assert.match(describeInvocationError({ kind: "empty_runner_kind" }), /the invocation/);
  assert.match(describeInvocationError({ kind: "single_needs_one_target", got: 2 }), /got 2/);
});

test("every error is described on a line of its own words", () => {
  const target = 0;
  const got = 2;
  const errors: readonly InvocationError[] = [
    { kind: "no_targets" },
    { kind: "single_needs_one_target", got },
    { kind: "named_empty_agent_id", target },
    { kind: "ad_hoc_empty_prompt", target },
    { kind: "empty_message", target },
    { kind: "empty_runner_kind", target },
    { kind: "empty_tool_name" },
    { kind: "shared_needs_parent" },
    { kind: "shared_needs_one_target", got },
    { kind: "shared_needs_named_agent" },
    { kind: "shared_not_detached" },
    { kind: "shared_not_remote" },
  ];
  const lines = errors.map(describeInvocationError);
  assert.equal(new Set(lines).size, errors.length);
  for (const line of lines) assert.match(line, /^\S.{20,}\S$/);
});
