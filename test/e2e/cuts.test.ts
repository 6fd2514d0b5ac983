// The cuts with a few interruptions, and a check that their checker finds every kind of loss and doubling.

import assert from "node:assert/strict";
import { test } from "node:test";

import type { TaskEvent } from "../../src/protocol/task/event.ts";
import { checkLog, unfinished } from "./cuts/check-after-cuts.ts";
import { newLedger } from "./cuts/cuts-ledger.ts";
import { cuts } from "./cuts.ts";

test("invariants 3, 8, 9, 13: random kills, stops, drops and takeovers lose nothing, double nothing, hang nothing", async () => {
  const { tally, problems, figures } = await cuts({ cuts: 12, seed: 1 });
  assert.deepEqual(problems, []);
  assert.deepEqual({ ...tally, tasks: 0 }, { cuts: 12, tasks: 0, lost: 0, doubled: 0, unfinished: 0, out_of_order: 0 });
  const met = ["cut: kill", "answers taken", "results taken", "progress kept", "hook_before", "spawn"];
  const missed = met.filter((what) => (figures[what] ?? 0) === 0);
  assert.deepEqual(missed, [], `the cuts hit work under way: ${JSON.stringify(figures)}`);
  assert.ok(tally.tasks > 15, JSON.stringify(figures));
});

test("the check sees what it is there for: each kind of loss and doubling", () => {
  let seq = 0;
  const made = <T extends TaskEvent["type"]>(task: string, type: T, data: unknown): TaskEvent =>
    ({ seq: (seq += 1), at: 0, task, root: "tsk_r", type, data }) as TaskEvent;
  const created = { agent: "builder", runner: "operator", parent: "tsk_r", depth: 1, detached: false };
  const said = (text: string): unknown => ({
    message: { role: "assistant", parts: [{ part_type: "text", data: text }] },
  });
  const log = [
    made("tsk_r", "task.created", { ...created, agent: "i", runner: "invocation", parent: null }),
    made("tsk_r.1", "task.created", created),
    made("tsk_r.1", "ask.answered", { ask: "ask_1", answer: { kind: "question", value: "a" }, by: {} }),
    made("tsk_r.1", "message.added", said("worker-1 step-2")),
    made("tsk_r.1", "wait.settled", { wait: "ask_2", outcome: "answered" }),
    made("tsk_r.1", "task.completed", { content: "made by worker-1-3" }),
    made("tsk_r", "task.completed", { content: null }),
  ];
  const ledger = (): ReturnType<typeof newLedger> => {
    const fresh = newLedger();
    fresh.started.set("k", { task: "tsk_r", kind: "spawn" });
    fresh.answers.set("ask_1", { kind: "question", value: "a" });
    fresh.settled.set("ask_2", "seen-1");
    fresh.progress.set("worker-1 step-2", { task: "tsk_r.1", acknowledged: true });
    fresh.effects.push({ task: "tsk_r.1", attempt: 1, text: "made by worker-1-3" });
    fresh.results.set("tsk_r.1", { attempt: 1, text: "made by worker-1-3" });
    return fresh;
  };
  const kindsOf = (change: (wrong: ReturnType<typeof newLedger>) => void, events = log): string[] => {
    const changed = ledger();
    change(changed);
    return checkLog(changed, events).map(({ kind }) => kind);
  };
  assert.deepEqual(
    kindsOf(() => undefined),
    [],
  );
  assert.deepEqual(
    kindsOf((wrong) => wrong.started.set("k2", { task: "tsk_x", kind: "spawn" })),
    ["lost"],
  );
  assert.deepEqual(
    kindsOf((wrong) => wrong.started.clear()),
    ["doubled"],
  );
  assert.deepEqual(
    kindsOf((wrong) => wrong.answers.set("ask_1", { kind: "question", value: "b" })),
    ["lost"],
  );
  assert.deepEqual(
    kindsOf((wrong) => wrong.settled.set("ask_3", "seen-2")),
    ["lost"],
  );
  assert.deepEqual(
    kindsOf((wrong) => wrong.progress.set("worker-9 step-9", { task: "tsk_r.1", acknowledged: true })),
    ["lost"],
  );
  assert.deepEqual(
    kindsOf((wrong) => wrong.results.set("tsk_r.1", { attempt: 1, text: "other" })),
    ["lost"],
  );
  assert.deepEqual(
    kindsOf((wrong) => wrong.effects.splice(0)),
    ["doubled"],
  );
  const twice = (type: TaskEvent["type"]): TaskEvent[] => [...log, ...log.filter((event) => event.type === type)];
  assert.ok(kindsOf(() => undefined, twice("task.completed")).includes("doubled"));
  assert.deepEqual(
    kindsOf(() => undefined, twice("message.added")),
    ["doubled"],
  );
  assert.deepEqual(
    kindsOf(() => undefined, twice("wait.settled")),
    ["doubled"],
  );
  assert.deepEqual(
    kindsOf(() => undefined, twice("ask.answered")),
    ["doubled"],
  );
  assert.equal(unfinished(log).length, 0);
  assert.equal(unfinished(log.slice(0, 3)).length, 2);
});
