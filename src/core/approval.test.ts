import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "../../test/support/properties.ts";

import {
  ApprovalPolicy,
  ApprovalRule,
  type ApprovalRules,
  defaultApprovalPolicy,
  Effect,
} from "../protocol/invocation/approval-policy.ts";
import { approvalOutcome, approvalQuestion, type ApprovalSource, type CallEffect, decideCalls } from "./approval.ts";

const verdict = (effect: CallEffect, policy: ApprovalRules = {}, tool = "t"): string | undefined =>
  decideCalls([{ tool, effect }], [{ from: "project", rules: policy }])[0]?.verdict;

test("the default policy is what an empty one is read as", () => {
  assert.deepEqual(ApprovalPolicy.parse({}), defaultApprovalPolicy);
});

test("by default reading, and what stays in the task's folders, runs; the network and the rest is asked about", () => {
  assert.equal(verdict({ effects: ["read"], confined: true }), "run");
  assert.equal(verdict({ effects: ["read"], confined: false }), "run");
  assert.equal(verdict({ effects: ["write"], confined: true }), "run");
  assert.equal(verdict({ effects: ["write"], confined: false }), "ask");
  assert.equal(verdict({ effects: ["execute"], confined: true }), "run");
  assert.equal(verdict({ effects: ["execute"], confined: false }), "ask");
  assert.equal(verdict({ effects: ["network"], confined: true }), "ask");
  assert.equal(verdict({ effects: ["execute", "network"], confined: true }), "ask");
});

test("a rule for a tool stands in place of those for its effects", () => {
  const policy = ApprovalPolicy.parse({ network: "refuse", tools: { deploy: "free", rm: "refuse", run: "confined" } });
  assert.equal(verdict({ effects: ["network"], confined: false }, policy, "deploy"), "run");
  assert.equal(verdict({ effects: ["read"], confined: true }, policy, "rm"), "refuse");
  assert.equal(verdict({ effects: ["execute"], confined: true }, policy, "run"), "run");
  assert.equal(verdict({ effects: ["execute", "network"], confined: true }, policy, "run"), "ask");
  assert.equal(verdict({ effects: ["network"], confined: false }, policy, "other"), "refuse");
  assert.equal(verdict({ effects: ["read"], confined: true }, policy, "constructor"), "run");
});

test("no rule makes a change of a protected file free, and a rule for the tool does not either", () => {
  const free = { read: "free", write: "free", execute: "free", network: "free", tools: { write: "free" } } as const;
  const effect: CallEffect = { effects: ["write", "protected"], confined: true };
  assert.equal(verdict(effect, ApprovalPolicy.parse(free), "write"), "ask");
  assert.equal(verdict(effect, ApprovalPolicy.parse(free), "other"), "ask");
  assert.equal(verdict(effect, ApprovalPolicy.parse({ ...free, protected: "refuse" }), "write"), "refuse");
  assert.ok(!ApprovalPolicy.safeParse({ protected: "free" }).success);
  assert.ok(!ApprovalPolicy.safeParse({ protected: "confined" }).success);
});

test("a judgement says why, and what is unknown in a policy is refused", () => {
  const [judged] = decideCalls([{ tool: "run", effect: { effects: ["execute"], confined: false } }], []);
  const reason = "the default policy asks about a call that runs a program and is not confined to the task's folders";
  assert.deepEqual(judged, { verdict: "ask", reason, rule: { from: "default", effect: "execute" } });
  assert.ok(!ApprovalPolicy.safeParse({ exec: "free" }).success);
  assert.ok(!ApprovalPolicy.safeParse({ network: "confined" }).success);
});

test("one more effect, and less confinement, never makes a judgement milder", () => {
  const order = ["run", "ask", "refuse"];
  const effects = fc.uniqueArray(fc.constantFrom(...Effect.options));
  const rule = fc.constantFrom(...ApprovalRule.options);
  const network = fc.constantFrom("free" as const, "ask" as const, "refuse" as const);
  const guarded = fc.constantFrom("ask" as const, "refuse" as const);
  const policies = fc.record({
    read: rule,
    write: rule,
    execute: rule,
    network,
    protected: guarded,
    tools: fc.constant({}),
  });
  fc.assert(
    fc.property(policies, effects, effects, fc.boolean(), (policy, some, more, confined) => {
      const strict = (effect: CallEffect): number => order.indexOf(verdict(effect, policy) ?? "");
      const base = strict({ effects: some, confined });
      assert.ok(strict({ effects: [...some, ...more], confined }) >= base);
      assert.ok(strict({ effects: some, confined: false }) >= base);
    }),
    { numRuns: 500 },
  );
});

test("the strictest of user, project, invocation and agent decides, and the judgement names it", () => {
  const effect: CallEffect = { effects: ["execute"], confined: false };
  const judged = (...sources: ApprovalSource[]) => decideCalls([{ tool: "run", effect }], sources)[0];
  const all: ApprovalSource[] = [
    { from: "user", rules: { execute: "free" } },
    { from: "project", rules: { tools: { run: "ask" } } },
    { from: "invocation", rules: { execute: "refuse" } },
    { from: "agent", rules: { execute: "ask" } },
  ];
  assert.partialDeepStrictEqual(judged(...all), { verdict: "refuse", rule: { from: "invocation", effect: "execute" } });
  assert.partialDeepStrictEqual(judged(...all.slice(0, 2)), { verdict: "ask", rule: { from: "project", tool: "run" } });
  assert.partialDeepStrictEqual(judged(...all.slice(3)), { verdict: "ask" });
});

test("an invocation and an agent make no rule looser, whatever they say", () => {
  const loose: ApprovalRules = { write: "free", execute: "free", network: "free", tools: { run: "free" } };
  const effect: CallEffect = { effects: ["execute", "network"], confined: false };
  for (const from of ["invocation", "agent"] as const) {
    const [judged] = decideCalls([{ tool: "run", effect }], [{ from, rules: loose }]);
    assert.partialDeepStrictEqual(judged, { verdict: "ask", rule: { from: "default" } });
  }
  const free: ApprovalSource[] = [{ from: "user", rules: loose }];
  assert.deepEqual(decideCalls([{ tool: "run", effect }], free), [{ verdict: "run" }]);
  const strict: ApprovalSource = { from: "project", rules: { network: "refuse" } };
  assert.equal(decideCalls([{ tool: "run", effect }], [...free, strict])[0]?.verdict, "refuse");
});

test("only a yes in time is a yes (invariant 8)", () => {
  assert.deepEqual(approvalOutcome({ value: { kind: "approval", approved: true } }), { approved: true });
  const denied = approvalOutcome({ value: { kind: "approval", approved: false, reason: "not today" } });
  assert.deepEqual(denied, { approved: false, reason: "not today" });
  assert.equal(approvalOutcome({ expired: true }).approved, false);
  assert.equal(approvalOutcome({ value: { kind: "question", value: "yes" } }).approved, false);
});

test("the question says who wants to do what and how far it reaches", () => {
  const effect: CallEffect = { effects: ["execute", "network"], confined: false };
  const question = "May coder run this program? It reaches the network, and is not confined to the task's folders.";
  assert.equal(approvalQuestion("coder", { tool: "run", effect }, "command: ls"), `${question}\ncommand: ls`);
});
