import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";

import { issueToken, type WorkerVerb } from "../../protocol/operator/capability-token.ts";
import { type WorkerPrompt, type WorkerRefusalReason, workerRefusals } from "../../protocol/operator/worker.ts";
import { invocationRunner } from "../../runner/invocation/runner.ts";
import { invocationTask } from "../../runner/invocation/root-task.ts";
import { readInvocationFile } from "../../protocol/invocation/invocation-file.ts";
import { askName } from "../../store/names.ts";
import {
  allEvents,
  connected,
  eventOf,
  type FrameOf,
  joined,
  type Kit,
  killed,
  openKit,
  restarted,
  operatorTask,
  passed,
  type Peer,
} from "../../../test/support/operator-kit.ts";
import { tempFolder } from "../../../test/support/temp-folder.ts";
import { until, within } from "../../../test/support/wait-until.ts";
import type { WorkerReply } from "./worker-reply.ts";

const minute = 60_000;

interface Spawned {
  kit: Kit;
  sid: string;
  peer: Peer;
  task: string;
  spawn: FrameOf<"spawn">;
  handle: string;
  token: string;
}

async function spawned(t: TestContext, config: Record<string, unknown> = {}): Promise<Spawned> {
  const kit = await openKit(t, tempFolder(t));
  const { sid } = await joined(kit, "builder");
  const peer = await connected(kit, sid);
  const { task } = await kit.engine.start(operatorTask({ operator: "builder", ack_ms: 0, ...config }));
  const spawn = await peer.next("spawn");
  return { kit, sid, peer, task, spawn, handle: spawn.worker_handle ?? "", token: spawn.capability_token };
}

function reasonOf(reply: WorkerReply<unknown>): WorkerRefusalReason | "accepted" {
  return reply.ok ? "accepted" : reply.reason;
}

/** What became of a question. */
function stateOf(reply: WorkerReply<{ readonly state: string; readonly value?: unknown }>): unknown[] {
  if (!reply.ok) return [reply.reason];
  return "value" in reply.value ? [reply.value.state, reply.value.value] : [reply.value.state];
}

/** What a worker is told to do. */
function told(reply: WorkerReply<WorkerPrompt>): unknown {
  if (!reply.ok) return reply.reason;
  const { roots: _roots, limits: _limits, lease: _lease, ...said } = reply.value;
  return said;
}

const signal = new AbortController().signal;

/** Every route, with a body that is in order for `task`. */
function calls(
  kit: Kit,
  task: string,
): Readonly<Record<string, (bearer: string | undefined) => Promise<WorkerReply<unknown>>>> {
  return {
    prompt: (bearer) => kit.workers.prompt(bearer, { task_id: task }),
    result: (bearer) => kit.workers.result(bearer, { task_id: task, value: 1, ok: true }),
    submit: (bearer) => kit.workers.submit(bearer, "1", {}),
    events: (bearer) => kit.workers.events(bearer, { events: [{ type: "progress", text: "on it" }] }),
    ask: (bearer) => kit.workers.ask(bearer, { key: "k", question: "q", wait_ms: 0 }, signal),
  };
}

async function everywhere(kit: Kit, task: string, bearer: string | undefined): Promise<string[]> {
  const reasons = new Set<string>();
  for (const call of Object.values(calls(kit, task))) reasons.add(reasonOf(await call(bearer)));
  return [...reasons];
}

test("a worker fetches its prompt, posts progress and hands its result in, by handle or by token", async (t) => {
  for (const by of ["handle", "token"] as const) {
    const { kit, task, [by]: bearer } = await spawned(t);
    const fetched = told(await kit.workers.prompt(bearer, { task_id: task }));
    assert.deepEqual(fetched, { task_id: task, attempt: 1, agent: "coder", prompt: "do it" });
    assert.equal((await kit.workers.submit(bearer, "all done \n\n", {})).ok, true);
    assert.equal((await kit.engine.result(task)).content, "all done");
  }
});

test("the first result wins: a repeat is told so, another is refused, also after the task's end and over a kill", async (t) => {
  const { kit, task, handle, token } = await spawned(t, { ack_ms: minute });
  const post = (kit: Kit, bearer: string, value: unknown, ok = true) =>
    kit.workers.result(bearer, { task_id: task, value, ok });
  assert.deepEqual(await post(kit, handle, { a: 1, b: [2] }), { ok: true, value: { recorded: true, already: false } });
  const judge = async (kit: Kit): Promise<void> => {
    assert.deepEqual(await post(kit, token, { b: [2], a: 1 }), { ok: true, value: { recorded: true, already: true } });
    assert.equal(reasonOf(await post(kit, handle, { a: 2, b: [2] })), "already_posted");
    assert.equal(reasonOf(await post(kit, handle, { a: 1, b: [2] }, false)), "already_posted");
    assert.equal(reasonOf(await kit.workers.submit(handle, "x", {})), "already_posted");
  };
  await judge(kit);
  await passed(kit, minute);
  await kit.engine.result(task);
  await judge(kit);
  const next = await killed(t, kit);
  await judge(next);
  assert.deepEqual((await next.engine.result(task)).content, { a: 1, b: [2] });
});

test("of many different results posted at once exactly one is recorded", async (t) => {
  const { kit, task, handle } = await spawned(t);
  const replies = await Promise.all(
    Array.from({ length: 20 }, (_, n) => kit.workers.result(handle, { task_id: task, value: n, ok: true })),
  );
  const winners = replies.flatMap((reply, n) => (reply.ok ? [n] : []));
  assert.equal(winners.length, 1);
  assert.equal((await kit.engine.result(task)).content, winners[0]);
});

test("a result that says ok: false fails the task with what it says", async (t) => {
  const { kit, task, handle } = await spawned(t);
  await kit.workers.submit(handle, "the tests do not pass\n", { verdict: "blocked" });
  assert.equal((await kit.engine.result(task)).status, "failed");
  const { data } = await eventOf(kit, "task.failed", task);
  assert.deepEqual([data.error.code, data.error.message], ["task_failed", "coder failed: the tests do not pass"]);
});

test("any changed byte of a token is refused on every route (invariant 13)", async (t) => {
  const { kit, task, token } = await spawned(t);
  for (let at = 0; at < token.length; at += 1) {
    const changed = token.slice(0, at) + (token[at] === "A" ? "B" : "A") + token.slice(at + 1);
    for (const [route, call] of Object.entries(calls(kit, task))) {
      assert.match(reasonOf(await call(changed)), /^(malformed|bad_signature)$/, `${route}, byte ${at}`);
    }
  }
  assert.equal((await kit.workers.prompt(token, { task_id: task })).ok, true);
});

test("any changed byte of a handle is refused on every route (invariant 13)", async (t) => {
  const { kit, task, handle } = await spawned(t);
  for (let at = 0; at < handle.length; at += 1) {
    const changed = handle.slice(0, at) + (handle[at] === "a" ? "b" : "a") + handle.slice(at + 1);
    assert.deepEqual(await everywhere(kit, task, changed), [at < 3 ? "malformed" : "unknown_handle"]);
  }
});

test("auth failures are 401 and 403, never 500: no bearer, nonsense, another key, another verb, another task", async (t) => {
  const { kit, task, token } = await spawned(t);
  const other = await spawned(t);
  assert.deepEqual(await everywhere(kit, task, undefined), ["no_bearer"]);
  assert.deepEqual(await everywhere(kit, task, ""), ["no_bearer"]);
  assert.deepEqual(await everywhere(kit, task, "nonsense"), ["malformed"]);
  assert.deepEqual(await everywhere(kit, task, other.token), ["bad_signature"]);
  assert.deepEqual(await everywhere(kit, task, other.handle), ["unknown_handle"]);
  const verbs: Record<string, WorkerVerb> = {
    prompt: "prompt",
    result: "result",
    submit: "result",
    events: "events",
    ask: "ask",
  };
  for (const verb of ["ask", "events", "prompt", "result"] as const) {
    const grant = { task, attempt: 1, verbs: [verb] };
    const only = await issueToken(grant, kit.signingKey.tokens, { now: kit.clock.now() });
    for (const [route, call] of Object.entries(calls(kit, task))) {
      if (verbs[route] !== verb)
        assert.equal(reasonOf(await call(only.token)), "verb_not_granted", `${verb} at ${route}`);
    }
  }
  const second = await kit.engine.start(operatorTask({ operator: "builder" }));
  assert.equal(reasonOf(await kit.workers.prompt(token, { task_id: second.task })), "wrong_task");
  assert.equal(reasonOf(await kit.workers.result(token, { task_id: second.task, value: 1, ok: true })), "wrong_task");
  for (const { status } of Object.values(workerRefusals)) assert.ok(status >= 401 && status <= 422);
});

test("a token and its handle end at the same instant, on every route that takes no result", async (t) => {
  const { kit, task, token, handle } = await spawned(t);
  kit.clock.advance(30 * minute - 1);
  assert.equal((await kit.workers.prompt(token, { task_id: task })).ok, true);
  kit.clock.advance(1);
  const { prompt, events, ask } = calls(kit, task);
  for (const bearer of [token, handle]) {
    for (const call of [prompt, events, ask]) {
      assert.equal(reasonOf((await call?.(bearer)) ?? assert.fail()), "expired");
    }
  }
});

test("a worker cannot choose its attempt: a body that names another one is refused", async (t) => {
  const { kit, task, token } = await spawned(t);
  assert.equal(
    reasonOf(await kit.workers.result(token, { task_id: task, value: 1, ok: true, attempt: 2 })),
    "wrong_attempt",
  );
  assert.equal(
    reasonOf(await kit.workers.result(token, { task_id: task, value: 1, ok: true, attempt: 1 })),
    "accepted",
  );
});

test("a late worker of attempt 1 cannot write attempt 2 (invariant 13)", async (t) => {
  const { kit, task, peer, token, handle } = await spawned(t, { repeatable: true });
  await kit.workers.prompt(handle, { task_id: task });
  await kit.workers.events(handle, { events: [{ type: "progress", text: "begun" }] });
  await eventOf(kit, "message.added", task);
  await passed(kit, 2 * minute);
  const second = await peer.next("spawn");
  assert.deepEqual([second.task_id, second.attempt, second.redelivered], [task, 2, undefined]);
  const ended = await eventOf(kit, "attempt.ended", task);
  assert.equal(ended.data.outcome, "unknown");
  for (const bearer of [token, handle]) assert.deepEqual(await everywhere(kit, task, bearer), ["wrong_attempt"]);
  await kit.workers.submit(second.worker_handle, "from attempt 2", {});
  assert.equal((await kit.engine.result(task)).content, "from attempt 2");
});

test("the rights of an offer that was taken back are void: of two workers one does the task", async (t) => {
  let kit = await openKit(t, tempFolder(t));
  const [leaving, staying] = [await joined(kit), await joined(kit)];
  const { task } = await kit.engine.start(operatorTask());
  const before = await (await connected(kit, leaving.sid)).next("spawn");
  const other = await connected(kit, staying.sid);
  await kit.hub.leave(leaving.sid, "going home");
  const after = await other.next("spawn");
  assert.deepEqual([before.task_id, before.attempt], [after.task_id, after.attempt]);
  for (const restart of [false, true]) {
    if (restart) kit = await restarted(t, kit);
    assert.deepEqual(await everywhere(kit, task, before.capability_token), ["offered_again"]);
    assert.deepEqual(await everywhere(kit, task, before.worker_handle ?? ""), ["offered_again"]);
  }
  const fetched = await kit.workers.prompt(after.worker_handle, { task_id: task });
  assert.equal(fetched.ok, true);
});

test("a task that was cancelled or has ended is over for its worker: 410", async (t) => {
  const { kit, task, handle, spawn } = await spawned(t);
  await kit.engine.cancel(task, "no need");
  assert.deepEqual(await everywhere(kit, task, handle), ["attempt_over"]);
  assert.deepEqual(await everywhere(kit, task, spawn.capability_token), ["attempt_over"]);
  const ended = await spawned(t);
  ended.peer.send({ type: "spawn_ack", req_id: ended.spawn.req_id, value: "by the operator" });
  await ended.kit.engine.result(ended.task);
  assert.deepEqual(await everywhere(ended.kit, ended.task, ended.handle), ["attempt_over"]);
});

test("an accepted progress post gives a fresh token for the same attempt; the old one dies at its own expiry", async (t) => {
  const { kit, task, token } = await spawned(t);
  await kit.workers.prompt(token, { task_id: task });
  kit.clock.advance(29 * minute);
  const posted = await kit.workers.events(token, { events: [{ type: "progress", text: "half", fraction: 0.5 }] });
  assert.ok(posted.ok);
  assert.equal(posted.value.expires_at, kit.clock.now() + 30 * minute);
  kit.clock.advance(minute);
  assert.equal(reasonOf(await kit.workers.prompt(token, { task_id: task })), "expired");
  assert.equal(reasonOf(await kit.workers.submit(posted.value.capability_token, "x", {})), "accepted");
  assert.equal((await kit.engine.result(task)).content, "x");
});

test("a progress post that is repeated with its key is kept once: at once, later, and over a kill", async (t) => {
  let kit = await openKit(t, tempFolder(t));
  const { sid } = await joined(kit);
  const { task } = await kit.engine.start(operatorTask());
  const { worker_handle: handle } = await (await connected(kit, sid)).next("spawn");
  const post = (key: string) => kit.workers.events(handle, { key, events: [{ type: "progress", text: key }] });
  const first = await Promise.all([post("one"), post("one"), post("two")]);
  assert.ok(first.every(({ ok }) => ok));
  assert.ok((await post("one")).ok);
  kit = await killed(t, kit);
  assert.ok((await post("two")).ok);
  assert.ok((await post("three")).ok);
  const said = (): string[] =>
    kit.store
      .eventsOf(Number.parseInt(task.slice(task.lastIndexOf("_") + 1), 36), 0, 1000)
      .flatMap(({ type, body }) => (type === "message.added" ? (/one|two|three/.exec(body ?? "")?.[0] ?? []) : []));
  await until(() => said().includes("three"));
  assert.deepEqual(said(), ["one", "two", "three"]);
});

test("progress and partial results are kept in order as messages of the task, and so is what a person says to it", async (t) => {
  const { kit, task, handle } = await spawned(t);
  await kit.workers.events(handle, {
    events: [
      { type: "progress", text: "one" },
      { type: "partial", value: { two: 2 } },
    ],
  });
  await kit.engine.message(task, { name: null, role: "user", parts: [{ part_type: "text", data: "three" }] });
  await kit.workers.submit(handle, "done", {});
  await kit.engine.result(task);
  const said = (await allEvents(kit)).flatMap((event) =>
    event.type === "message.added" ? [{ role: event.data.message.role, parts: event.data.message.parts }] : [],
  );
  assert.deepEqual(said, [
    { role: "assistant", parts: [{ part_type: "text", data: "one" }] },
    { role: "assistant", parts: [{ part_type: "data", data: { partial: { two: 2 } } }] },
    { role: "user", parts: [{ part_type: "text", data: "three" }] },
  ]);
});

test("a worker's question is asked once per key, polled for, and answered with the plain value, over a kill too", async (t) => {
  let { kit, task, handle, peer } = await spawned(t);
  const ask = (key: string, question: unknown, wait_ms = 0) =>
    kit.workers.ask(handle, { key, question, wait_ms }, signal);
  const twice = await Promise.all([ask("k!", "which way?"), ask("k!", "which way?")]);
  assert.deepEqual(twice.map(stateOf), [["waiting"], ["waiting"]]);
  const raised = await eventOf(kit, "ask.raised", task);
  assert.equal(raised.data.ask.question, "coder asks: which way?");
  assert.deepEqual(kit.engine.counts(), { pending: 0, running: 0, input_required: 1 });
  assert.equal((await kit.view.tasks({ limit: 9, status: "input_required" })).rows.length, 1, "as the store tells it");
  assert.equal(reasonOf(await ask("k!", "another question")), "key_reused");
  await peer.drop();
  kit = await killed(t, kit);
  assert.deepEqual(stateOf(await ask("k!", "which way?")), ["waiting"]);
  const open = kit.store.openWaits().filter(({ body }) => body.startsWith('{"ask"'));
  assert.equal(open.length, 1);
  const waiting = ask("k!", "which way?", minute);
  await kit.engine.deliver(raised.data.ask.id, { kind: "question", value: "left" }, { kind: "person", name: "Ada" });
  assert.deepEqual(stateOf(await waiting), ["answered", "left"]);
  assert.deepEqual(stateOf(await ask("k!", "which way?")), ["answered", "left"]);
});

test("a poll never misses an answer, whenever it comes", async (t) => {
  const { kit, handle } = await spawned(t);
  for (let turns = 0; turns < 12; turns += 1) {
    const waiting = kit.workers.ask(handle, { key: `${turns}`, question: `${turns}?`, wait_ms: minute }, signal);
    const isAsked = ({ body }: { readonly body: string }): boolean => body.includes(`asks: ${turns}?`);
    const asked = await until(() => kit.store.openWaits().find(isAsked));
    for (let turn = 0; turn < turns; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    const id = askName(kit.store.salt, asked.id);
    await kit.engine.deliver(id, { kind: "question", value: "yes" }, { kind: "person", name: "Ada" });
    assert.deepEqual(stateOf(await within(() => waiting, "the answer")), ["answered", "yes"]);
  }
});

test("the handle the directive hands over opens every route it names, and every other of a worker's", async (t) => {
  const { kit, task, handle, spawn } = await spawned(t);
  assert.ok(spawn.directive.includes("/v1/worker/prompt") && spawn.directive.includes("/v1/worker/submit"));
  assert.ok(!spawn.directive.includes(spawn.capability_token));
  for (const route of ["prompt", "events", "ask", "submit"]) {
    assert.equal(
      reasonOf((await calls(kit, task)[route]?.(handle)) ?? { ok: false, reason: "no_bearer", message: "" }),
      "accepted",
      route,
    );
  }
});

test("a worker's question may have choices, expires when nobody answers, and its poll ends with the caller", async (t) => {
  const { kit, task, handle } = await spawned(t, { deadline_ms: 48 * 60 * minute });
  const question = { question: "which?", choices: ["a", "b"], details: { hint: 1 } };
  const controller = new AbortController();
  const waiting = kit.workers.ask(handle, { key: "k", question, wait_ms: minute }, controller.signal);
  const raised = await eventOf(kit, "ask.raised", task);
  assert.deepEqual(raised.data.ask.choices, ["a", "b"]);
  controller.abort();
  assert.deepEqual(stateOf(await waiting), ["waiting"]);
  let token = handle;
  for (let spent = 0; spent < 24 * 60; spent += 29) {
    kit.clock.advance(29 * minute);
    const posted = await kit.workers.events(token, { events: [{ type: "progress", text: "still here" }] });
    assert.ok(posted.ok);
    token = posted.value.capability_token;
  }
  assert.deepEqual(stateOf(await kit.workers.ask(token, { key: "k", question, wait_ms: 0 }, signal)), ["expired"]);
});

test("the same result is recognised when what is kept of it was redacted", async (t) => {
  const redact = (text: string): string => text.replaceAll("hunter2", "[redacted]");
  const kit = await openKit(t, tempFolder(t), { redact });
  const peer = await connected(kit, (await joined(kit, "builder")).sid);
  const { task } = await kit.engine.start(operatorTask({ operator: "builder", ack_ms: 0 }));
  const { worker_handle } = await peer.next("spawn");
  await kit.workers.submit(worker_handle, "the password is hunter2", {});
  assert.equal((await kit.engine.result(task)).content, "the password is [redacted]");
  assert.deepEqual(await kit.workers.submit(worker_handle, "the password is hunter2", {}), {
    ok: true,
    value: { recorded: true, already: true },
  });
});

test("an agent of an invocation file is handed out with its instructions, its message and nothing of the file", async (t) => {
  const reading = readInvocationFile(
    JSON.stringify({
      invocation: {
        targets: [
          {
            agent: { type: "named", agent_id: "writer", instructions_overlay: "Be brief." },
            message: { role: "user", parts: [{ part_type: "text", data: "write it" }] },
          },
        ],
        context: "independent",
        join: "single",
        executor: { kind: "auto" },
      },
      agents: { writer: { instructions: "You write.", runtimes: ["operator"] } },
      operators: { gate: "gate" },
    }),
  );
  assert.ok(reading.ok, JSON.stringify(reading));
  const runners = [{ kind: "operator", runtime: "operator" }];
  const kit = await openKit(t, tempFolder(t), { runners: { invocation: invocationRunner({ runners }) } });
  const peer = await connected(kit, (await joined(kit, "gate")).sid);
  const { task } = await kit.engine.start(invocationTask(reading.file, { folder: kit.folder }));
  peer.send({ type: "hook_ack", req_id: (await peer.next("hook_before")).req_id, ok: true });
  const { worker_handle, task_id } = await peer.next("spawn");
  assert.notEqual(task_id, task);
  assert.deepEqual(told(await kit.workers.prompt(worker_handle, { task_id })), {
    task_id,
    attempt: 1,
    agent: "writer",
    system: "You write.\n\nBe brief.",
    prompt: "write it",
  });
  await kit.workers.submit(worker_handle, "written", {});
  await passed(kit, 30_000);
  const { content } = await kit.engine.result(task);
  assert.deepEqual(content, { kind: "scalar", result: { content: "written", task_id, status: "completed" } });
  assert.equal((await peer.next("hook_after")).result, "written");
});
