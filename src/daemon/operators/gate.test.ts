import assert from "node:assert/strict";
import { test } from "node:test";
import { z } from "zod";

import type { AskSpec, Durable } from "../../ports.ts";
import { Answer } from "../../protocol/task/ask.ts";
import type { AssignmentResult } from "../../protocol/task/assignment.ts";
import {
  allEvents,
  connected,
  eventOf,
  joined,
  killed,
  loopTask,
  openKit,
  operatorTask,
  passed,
} from "../../../test/support/operator-kit.ts";
import { tempFolder } from "../../../test/support/temp-folder.ts";
import { until } from "../../../test/support/wait-until.ts";

const minute = 60_000;
const gated = { operators: { gate: "gate" } };

/** What a delegated task of a goal returns that a person gave up. */
const givenUp: AssignmentResult = {
  kind: "assignment",
  claim: "all is done",
  state: "failed",
  reason: "a person gives the task up",
  pending: [],
  evidence: [],
  commit: null,
  tree: null,
  base: null,
  branch: null,
  workspace: null,
  criteria: [],
  handoff: { worker: null, attempts: 1, hops: 0, retries: 0, revisions: 0 },
};

test("hook_before has agent, attempt and deadline, and nothing of the task runs before its answer", async (t) => {
  let ran = 0;
  const kit = await openKit(t, tempFolder(t), { loops: { coder: async () => (ran += 1) } });
  const { sid } = await joined(kit, "gate");
  const peer = await connected(kit, sid);
  const { task } = await kit.engine.start(loopTask("coder", gated));
  const hook = await peer.next("hook_before");
  assert.deepEqual([hook.task_id, hook.agent, hook.attempt], [task, "coder", 1]);
  assert.equal(hook.deadline, kit.clock.now() + 10 * minute);
  assert.equal(ran, 0);
  peer.send({ type: "hook_ack", req_id: hook.req_id, ok: true });
  assert.equal((await kit.engine.result(task)).status, "completed");
  assert.equal(ran, 1);
});

test("a gate that refuses fails the task with its reason, and no token is issued", async (t) => {
  const kit = await openKit(t, tempFolder(t));
  const { sid } = await joined(kit, "gate");
  const peer = await connected(kit, sid);
  const { task } = await kit.engine.start(operatorTask({ operator: "gate" }, gated));
  const hook = await peer.next("hook_before");
  peer.send({ type: "hook_ack", req_id: hook.req_id, ok: false, reason: "not on a Friday" });
  const result = await kit.engine.result(task);
  assert.equal(result.status, "failed");
  const failed = await eventOf(kit, "task.failed", task);
  assert.deepEqual(
    [failed.data.error.code, failed.data.error.message],
    ["refused", "coder was not started: not on a Friday"],
  );
  await peer.settled();
  assert.deepEqual(
    peer.frames.map(({ type }) => type),
    ["hook_before"],
    "no spawn, and no hook_after for what never started",
  );
});

test("a gate that does not answer, or does not exist, refuses when its time is over (invariant 8)", async (t) => {
  const kit = await openKit(t, tempFolder(t), { loops: { coder: async () => "ran" } });
  const { task } = await kit.engine.start(loopTask("coder", { operators: { gate: "nobody" } }));
  await eventOf(kit, "wait.opened", task);
  kit.clock.advance(10 * minute);
  assert.equal((await kit.engine.result(task)).status, "failed");
  const failed = await eventOf(kit, "task.failed", task);
  assert.match(failed.data.error.message, /nobody did not agree within 600 s/);
});

test("a hook_before survives a kill, and the answer given after it counts once", async (t) => {
  let ran = 0;
  const loops = {
    coder: async (durable: Durable) =>
      durable.step("work", { repeatable: false, schema: z.number() }, () => (ran += 1)),
  };
  let kit = await openKit(t, tempFolder(t), { loops });
  const { sid } = await joined(kit, "gate");
  let peer = await connected(kit, sid);
  const { task } = await kit.engine.start(loopTask("coder", gated));
  const hook = await peer.next("hook_before");
  kit = await killed(t, kit, { loops });
  peer = await connected(kit, sid);
  const again = await peer.next("hook_before");
  assert.deepEqual([again.req_id, again.redelivered, again.deadline], [hook.req_id, true, hook.deadline]);
  peer.send({ type: "hook_ack", req_id: hook.req_id, ok: true });
  peer.send({ type: "hook_ack", req_id: hook.req_id, ok: false });
  assert.equal((await peer.next("error")).code, "already_answered");
  assert.equal((await kit.engine.result(task)).status, "completed");
  assert.equal(ran, 1);
});

test("hook_after tells the gate once how the task ended, and never over a later connection", async (t) => {
  const loops = {
    coder: async () => ({ lines: 3 }),
    breaker: () => Promise.reject(new Error("it broke")),
    talker: async () => "x".repeat(70_000),
  };
  const kit = await openKit(t, tempFolder(t), { loops });
  const { sid } = await joined(kit, "gate");
  const peer = await connected(kit, sid);
  for (const agent of ["coder", "breaker", "talker"]) {
    await kit.engine.start(loopTask(agent, gated));
    peer.send({ type: "hook_ack", req_id: (await peer.next("hook_before")).req_id, ok: true });
    const after = await peer.next("hook_after");
    assert.equal(after.agent, agent);
    if (agent === "coder") assert.deepEqual([after.outcome, after.result], ["completed", { lines: 3 }]);
    if (agent === "breaker")
      assert.deepEqual([after.outcome, after.result], ["failed", { error: "it broke", code: "internal" }]);
    if (agent === "talker") assert.deepEqual(after.result, { omitted: "too long for a frame", length: 70_002 });
    peer.send({ type: "hook_ack", req_id: after.req_id, ok: true });
    assert.equal((await peer.next("error")).code, "unknown_request");
  }
  await peer.drop();
  const next = await connected(kit, sid);
  await next.settled();
  assert.deepEqual(next.frames, []);
});

// ---- asks

function asks(spec: AskSpec): (durable: Durable) => Promise<unknown> {
  return async (durable) => {
    const waited = await durable.wait("ask", { ask: spec, schema: Answer });
    return "expired" in waited ? "expired" : { answer: waited.value, by: waited.by.kind };
  };
}

const senior = { operators: { senior: "senior" } };
const schema = { type: "object" };

test("an ask goes to the senior operator with its kind, text, choices, schema and deadline; plain values answer it", async (t) => {
  const cases: [AskSpec, unknown, unknown][] = [
    [{ kind: "question", question: "which?" }, "this", { kind: "question", value: "this" }],
    [{ kind: "question", question: "which?" }, { a: 1 }, { kind: "question", value: '{"a":1}' }],
    [{ kind: "question", question: "which?", answer_schema: schema }, { a: 1 }, { kind: "question", value: { a: 1 } }],
    [{ kind: "question", question: "which?", choices: ["a", "b"] }, "b", { kind: "question", value: "b" }],
    [
      { kind: "question", question: "which?" },
      { kind: "question", value: "whole" },
      { kind: "question", value: "whole" },
    ],
    [{ kind: "approval", question: "may I?", details: { path: "x" } }, false, { kind: "approval", approved: false }],
    [
      { kind: "approval", question: "may I?" },
      { approved: true, reason: "ok" },
      { kind: "approval", approved: true, reason: "ok" },
    ],
  ];
  const loops = Object.fromEntries(cases.map(([spec], at) => [`asker${at}`, asks(spec)]));
  const kit = await openKit(t, tempFolder(t), { loops });
  const { sid } = await joined(kit, "senior");
  const peer = await connected(kit, sid);
  for (const [at, [spec, value, answer]] of cases.entries()) {
    const { task } = await kit.engine.start(loopTask(`asker${at}`, senior));
    const frame = await peer.next("ask");
    const deadline = kit.clock.now() + 24 * 60 * minute;
    assert.deepEqual(frame.question, { ...spec, deadline });
    assert.equal(frame.deadline, deadline);
    peer.send({ type: "answer", req_id: frame.req_id, value });
    assert.deepEqual((await kit.engine.result(task)).content, { answer, by: "operator" });
  }
});

test("an answer that does not fit gets an error, and the ask still waits", async (t) => {
  const loops = {
    chooser: asks({ kind: "question", question: "which?", choices: ["a", "b"] }),
    approver: asks({ kind: "approval", question: "may I?" }),
  };
  const kit = await openKit(t, tempFolder(t), { loops });
  const peer = await connected(kit, (await joined(kit, "senior")).sid);
  for (const [agent, wrong, right] of [
    ["chooser", "c", "a"],
    ["approver", "yes", true],
  ] as const) {
    const { task } = await kit.engine.start(loopTask(agent, senior));
    const { req_id } = await peer.next("ask");
    peer.send({ type: "answer", req_id, value: wrong });
    const error = await peer.next("error");
    assert.deepEqual([error.code, error.req_id], ["invalid_answer", req_id]);
    peer.send({ type: "answer", req_id, value: right });
    assert.equal((await kit.engine.result(task)).status, "completed");
  }
});

test("a person may answer an ask before the senior does; then the senior gets already_answered", async (t) => {
  const kit = await openKit(t, tempFolder(t), { loops: { asker: asks({ kind: "question", question: "which?" }) } });
  const peer = await connected(kit, (await joined(kit, "senior")).sid);
  const { task } = await kit.engine.start(loopTask("asker", senior));
  const { req_id } = await peer.next("ask");
  const raised = await eventOf(kit, "ask.raised", task);
  const answer = { kind: "question", value: "hers" };
  await kit.engine.deliver(raised.data.ask.id, answer, { kind: "person", name: "Ada" });
  peer.send({ type: "answer", req_id, value: "mine" });
  assert.equal((await peer.next("error")).code, "already_answered");
  assert.deepEqual((await kit.engine.result(task)).content, { answer, by: "person" });
});

test("an ask of a tree without a senior goes to no operator, and an ask outlives a senior that leaves", async (t) => {
  const kit = await openKit(t, tempFolder(t), { loops: { asker: asks({ kind: "question", question: "which?" }) } });
  const first = await joined(kit, "senior");
  const peer = await connected(kit, first.sid);
  await kit.engine.start(loopTask("asker", {}));
  const { task } = await kit.engine.start(loopTask("asker", senior));
  const asked = await peer.next("ask");
  assert.equal(asked.task_id, task);
  await kit.hub.leave(first.sid, "done");
  const second = await joined(kit, "senior");
  const next = await connected(kit, second.sid);
  const again = await next.next("ask");
  assert.deepEqual([again.task_id, again.redelivered], [task, undefined]);
  assert.notEqual(again.req_id, asked.req_id);
  next.send({ type: "answer", req_id: again.req_id, value: "late but here" });
  await until(() => next.frames.length > 0);
  assert.equal((await kit.engine.result(task)).status, "completed");
});

test("a senior's answer settles its ask alone: a task that fails afterwards has failed", async (t) => {
  const failing = async (durable: Durable): Promise<unknown> => {
    await asks({ kind: "approval", question: "it went wrong; is that fine?" })(durable);
    throw new Error("it went wrong");
  };
  const kit = await openKit(t, tempFolder(t), { loops: { failing } });
  const peer = await connected(kit, (await joined(kit, "senior")).sid);
  const { task } = await kit.engine.start(loopTask("failing", senior));
  peer.send({ type: "answer", req_id: (await peer.next("ask")).req_id, value: true });
  assert.equal((await kit.engine.result(task)).status, "failed");
});

test("an operator that knows no error frames is asked again when its answer cannot be used, and told what was wrong", async (t) => {
  const spec: AskSpec = { kind: "question", question: "which side?", choices: ["left", "right"] };
  const loops = { asker: asks(spec), approver: asks({ kind: "approval", question: "may I?" }) };
  const kit = await openKit(t, tempFolder(t), { loops });
  const peer = await connected(kit, (await joined(kit, "senior")).sid, []);
  const { task } = await kit.engine.start(loopTask("asker", senior));
  const seen = new Set<string>();
  for (const value of [{ verdict: "left" }, ["left"], undefined]) {
    const ask = await peer.next("ask");
    seen.add(ask.req_id);
    assert.equal(ask.task_id, task);
    peer.send({ type: "answer", req_id: ask.req_id, value });
  }
  const last = await peer.next("ask");
  assert.partialDeepStrictEqual(last.question, { question: "which side?", choices: ["left", "right"] });
  assert.match(JSON.stringify(last.question), /"problem":".*value/);
  assert.equal(seen.add(last.req_id).size, 4, "an answer that is kept by its req_id cannot be sent to it unasked");
  peer.send({ type: "answer", req_id: last.req_id, value: "Left" });
  const { content } = await kit.engine.result(task);
  assert.deepEqual(content, { answer: { kind: "question", value: "left" }, by: "operator" });

  const { task: other } = await kit.engine.start(loopTask("approver", senior));
  for (const value of [{ verdict: "approved" }, "yes", { approved: "true" }, { verdict: { approved: true } }]) {
    peer.send({ type: "answer", req_id: (await peer.next("ask")).req_id, value });
  }
  await passed(kit, 0);
  await peer.settled();
  assert.equal(peer.frames.length, 8, "it had its chances; people can still answer");
  const [open] = (await allEvents(kit)).flatMap((event) =>
    event.type === "ask.raised" && event.task === other ? [event.data.ask] : [],
  );
  assert.deepEqual(
    await kit.engine.deliver(open?.id ?? "", { kind: "approval", approved: false }, { kind: "person", name: "ada" }),
    {
      outcome: "accepted",
    },
  );
  assert.deepEqual((await kit.engine.result(other)).content, {
    answer: { kind: "approval", approved: false },
    by: "person",
  });
});

test("an agent that was handed over to needs consent of its own, and hook_after tells of the run of each", async (t) => {
  const worked: string[] = [];
  const loops = {
    planner: async (durable: Durable) => {
      worked.push(durable.agent);
      return durable.handover("to", { agent: "deployer", input: durable.input });
    },
    deployer: async (durable: Durable) => {
      worked.push(durable.agent);
      return "deployed";
    },
  };
  const kit = await openKit(t, tempFolder(t), { loops });
  const { sid } = await joined(kit, "gate");
  const peer = await connected(kit, sid);
  const { task } = await kit.engine.start(loopTask("planner", gated));
  const first = await peer.next("hook_before");
  peer.send({ type: "hook_ack", req_id: first.req_id, ok: true });
  const handed = await peer.next("hook_after");
  const second = await peer.next("hook_before");
  assert.deepEqual([first.agent, second.agent, worked], ["planner", "deployer", ["planner"]]);
  assert.deepEqual(
    [handed.agent, handed.outcome, handed.result],
    ["planner", "handed_over", { handed_over: "deployer" }],
  );
  peer.send({ type: "hook_ack", req_id: second.req_id, ok: true });
  assert.equal((await kit.engine.result(task)).content, "deployed");
  const after = await peer.next("hook_after");
  assert.deepEqual([after.agent, after.outcome, after.result], ["deployer", "completed", "deployed"]);
});

test("a gate that refuses the agent handed over to fails the task, and hears the end of the one it agreed to", async (t) => {
  let deployed = false;
  const loops = {
    planner: (durable: Durable) => durable.handover("to", { agent: "deployer", input: durable.input }),
    deployer: async () => (deployed = true),
  };
  const kit = await openKit(t, tempFolder(t), { loops });
  const { sid } = await joined(kit, "gate");
  const peer = await connected(kit, sid);
  const { task } = await kit.engine.start(loopTask("planner", gated));
  const first = await peer.next("hook_before");
  peer.send({ type: "hook_ack", req_id: first.req_id, ok: true });
  const after = await peer.next("hook_after");
  const second = await peer.next("hook_before");
  peer.send({ type: "hook_ack", req_id: second.req_id, ok: false, reason: "not to production" });
  assert.equal((await kit.engine.result(task)).status, "failed");
  assert.equal(deployed, false);
  assert.deepEqual([after.agent, after.outcome], ["planner", "handed_over"]);
  await peer.settled();
  assert.equal(peer.frames.at(-1), second, "the run that was refused did not begin, so it has no end");
});

test("hook_after tells of every attempt, once, with its number and how it ended", async (t) => {
  let begun = 0;
  const loops = {
    coder: async (durable: Durable) => {
      begun = durable.attempt;
      if (durable.attempt === 1) return durable.again("again", { reason: "half of it is missing", outcome: "failed" });
      if (durable.attempt < 4) await asks({ kind: "question", question: "which?" })(durable);
      return givenUp;
    },
  };
  const kit = await openKit(t, tempFolder(t), { loops });
  const peer = await connected(kit, (await joined(kit, "gate")).sid);
  const { task } = await kit.engine.start(loopTask("coder", gated));
  const attempts: unknown[] = [];
  for (let attempt = 1; attempt <= 4; attempt += 1) {
    const hook = await peer.next("hook_before");
    assert.equal(hook.attempt, attempt);
    peer.send({ type: "hook_ack", req_id: hook.req_id, ok: true });
    if (attempt === 2) {
      await eventOf(kit, "ask.raised", task);
      await kit.engine.stopTask(task, "that is enough");
      await kit.engine.resumeTask(task, { kind: "person", name: "ada" });
    }
    if (attempt === 3) {
      await until(() => begun === 3);
      await kit.engine.retry(task);
    }
    const after = await peer.next("hook_after");
    attempts.push([after.agent, after.attempt, after.outcome, after.result]);
  }
  assert.deepEqual(attempts, [
    ["coder", 1, "failed", { reason: "half of it is missing" }],
    ["coder", 2, "stopped", { reason: "that is enough" }],
    ["coder", 3, "unknown", { reason: "another attempt was asked for" }],
    ["coder", 4, "failed", givenUp],
  ]);
  assert.equal((await kit.engine.result(task)).status, "completed", "the task gave its account");
  await peer.settled();
  assert.equal(peer.frames.length, 8);
});

test("a task that is canceled between two attempts tells of the first one alone, once", async (t) => {
  const loops = {
    coder: async (durable: Durable) => durable.again("again", { reason: "it went wrong", outcome: "failed" }),
  };
  const kit = await openKit(t, tempFolder(t), { loops });
  const peer = await connected(kit, (await joined(kit, "gate")).sid);
  const { task } = await kit.engine.start(loopTask("coder", gated));
  peer.send({ type: "hook_ack", req_id: (await peer.next("hook_before")).req_id, ok: true });
  const after = await peer.next("hook_after");
  assert.deepEqual([after.attempt, after.outcome], [1, "failed"]);
  const second = await peer.next("hook_before");
  assert.equal(second.attempt, 2);
  await kit.engine.cancel(task, "no need");
  await kit.engine.result(task);
  await peer.settled();
  assert.equal(peer.frames.at(-1), second);
});
