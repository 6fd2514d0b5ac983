import assert from "node:assert/strict";
import { test } from "node:test";
import { tokenRefusals } from "./capability-token.ts";
import {
  submittedOk,
  WorkerAsk,
  WorkerAskAnswer,
  WorkerEvents,
  WorkerRefusal,
  workerRefusals,
  WorkerPrompt,
  WorkerResult,
  WorkerSubmitQuery,
} from "./worker.ts";

test("a result is ok unless it says otherwise, and must have a value", () => {
  assert.deepEqual(WorkerResult.parse({ task_id: "t", value: null, other: 1 }), {
    task_id: "t",
    value: null,
    ok: true,
  });
  assert.equal(WorkerResult.safeParse({ task_id: "t" }).success, false);
  assert.equal(WorkerResult.safeParse({ task_id: "t", value: 1, ok: "true" }).success, false);
});

test("a prompt may come without system text", () => {
  const lease = { expires_at: 9, token_ms: 5, lease_ms: 2, renew: "POST /v1/worker/events" };
  const limits = { deadline: 9, tokens: 1, money_micro_usd: 1 };
  const prompt = { task_id: "t", attempt: 1, agent: "a", prompt: "p", roots: [], limits, lease };
  assert.deepEqual(WorkerPrompt.parse(prompt), prompt);
});

test("a submit passes unless ok or verdict says it did not", () => {
  const okOf = (query: unknown): boolean => submittedOk(WorkerSubmitQuery.parse(query));
  assert.equal(okOf({}), true);
  assert.equal(okOf({ ok: "true" }), true);
  assert.equal(okOf({ ok: "false" }), false);
  assert.equal(okOf({ verdict: "pass" }), true);
  assert.equal(okOf({ verdict: "blocked" }), false);
  assert.equal(okOf({ ok: "false", verdict: "blocked" }), false);
});

test("a submit that contradicts itself or says something else is refused, not taken for a pass", () => {
  for (const query of [
    { ok: "true", verdict: "blocked" },
    { ok: "false", verdict: "pass" },
    { verdict: "skip" },
    { ok: "no" },
    { ok: "" },
  ]) {
    assert.equal(WorkerSubmitQuery.safeParse(query).success, false, JSON.stringify(query));
  }
});

test("events are progress or partial, one to a hundred, and nothing unknown", () => {
  const progress = { type: "progress", text: "halfway", fraction: 0.5 };
  const partial = { type: "partial", value: [1] };
  assert.deepEqual(WorkerEvents.parse({ events: [progress, partial] }), { events: [progress, partial] });
  const bad = [
    [],
    Array(101).fill(progress),
    [{ ...progress, fraction: 2 }],
    [{ ...progress, x: 1 }],
    [{ type: "final" }],
  ];
  for (const events of bad) assert.equal(WorkerEvents.safeParse({ events }).success, false);
});

test("an ask has a key, so that asking again is not a second question", () => {
  assert.deepEqual(WorkerAsk.parse({ key: "k", question: "why?" }), { key: "k", question: "why?", wait_ms: 0 });
  assert.equal(WorkerAsk.safeParse({ question: "why?" }).success, false);
  assert.equal(WorkerAsk.safeParse({ key: "k", question: 1, wait_ms: 60_001 }).success, false);
  const rights = { capability_token: "tt1.x.y", expires_at: 9 };
  assert.equal(WorkerAskAnswer.safeParse({ state: "answered", ...rights }).success, false);
  assert.equal(WorkerAskAnswer.safeParse({ state: "answered", value: null, ...rights }).success, true);
});

test("every refusal of a token has a status a client can act on, never 400 or 500", () => {
  for (const reason of Object.keys(tokenRefusals)) assert.ok(Object.hasOwn(workerRefusals, reason), reason);
  for (const { status } of Object.values(workerRefusals)) assert.ok([401, 403, 409, 410, 413, 422].includes(status));
  const statuses = (["bad_signature", "expired", "wrong_task", "wrong_attempt", "attempt_over"] as const).map(
    (reason) => workerRefusals[reason].status,
  );
  assert.deepEqual(statuses, [401, 401, 403, 409, 410]);
});

test("a refusal names its reason", () => {
  const refusal = { error: "expired", message: workerRefusals.expired.message };
  assert.deepEqual(WorkerRefusal.parse(refusal), refusal);
  assert.equal(WorkerRefusal.safeParse({ error: "no reason", message: "" }).success, false);
});
