// The supervisor tools over a real engine: what an agent sees of the tasks below its own and can do to them.

import assert from "node:assert/strict";
import { test } from "node:test";
import { z } from "zod";
import { world } from "../../../test/support/agent-kit.ts";
import { leadOf, led, worker } from "../../../test/support/lead-and-worker.ts";
import { until } from "../../../test/support/wait-until.ts";
import type { Runner } from "../../ports.ts";
import { all, named, single } from "../../protocol/invocation/invocation-builders.ts";

test("wait_task on a live child ends by its result and returns the output; a timeout is an answer", async (t) => {
  const w = await world(t);
  const file = led({ delegate: [{ agent: "worker", prompt: "x", mode: "background" }] });
  file.script.rules = [
    file.script.rules[0] ?? assert.fail(),
    {
      agent: "lead",
      turn: 1,
      last: { regex: "(tsk_\\w+)" },
      call: [{ tool: "wait_task", args: { task_id: "{{1}}", timeout_ms: 5 } }],
    },
    {
      agent: "lead",
      turn: 2,
      last: { regex: '"task_id":"(tsk_\\w+)"' },
      call: [
        { tool: "wait_task", args: { task_id: "{{1}}" } },
        { tool: "get_task_result", args: { task_id: "{{1}}" } },
        { tool: "list_my_tasks", args: {} },
      ],
    },
    { agent: "lead", say: "over" },
    { agent: "worker", delay_ms: 200, say: "long text" },
  ];
  const root = await w.start(file);
  await w.engine.result(root);
  const [ids, timedOut, waited] = w.toolResults(leadOf(w, root)) as {
    timed_out?: boolean;
    task?: Record<string, unknown>;
    result?: unknown;
    task_ids?: string[];
  }[];
  assert.equal(timedOut?.timed_out, true);
  assert.equal(timedOut?.task?.["status"], "running");
  assert.equal(waited?.timed_out, false);
  assert.equal(waited?.result, "long text");
  assert.deepEqual(Object.keys(waited?.task ?? {}), [
    "task_id",
    "agent_id",
    "status",
    "executor",
    "started_at",
    "last_event_at",
    "ended_at",
    "preview",
  ]);
  assert.equal(waited?.task?.["task_id"], ids?.task_ids?.[0]);
});

test("own descendants only: a sibling's task can be neither seen nor awaited nor cancelled nor written to", async (t) => {
  const w = await world(t);
  const other = await w.start({
    invocation: single(named("worker", "x")),
    agents: { worker },
    script: { rules: [{ delay_ms: 60_000, say: "x" }] },
  });
  await until(() => w.tree(other).length === 2);
  const theirs = w.tree(other)[1]?.id ?? "";
  const calls = ["get_task", "wait_task", "cancel_task", "get_task_result"].map((tool) => ({
    tool,
    args: { task_id: theirs },
  }));
  const root = await w.start(
    led({ call: [...calls, { tool: "message_task", args: { task_id: theirs, message: "psst" } }] }),
  );
  await w.engine.result(root);
  const lead = leadOf(w, root);
  const told = w.toolResults(lead) as { error?: { code: string } }[];
  assert.deepEqual(
    told.map((each) => each.error?.code),
    ["refused", "refused", "refused", "refused", "refused"],
  );
  assert.deepEqual(await w.engine.cancel(other, "done"), [other, theirs]);
});

test("a task cannot wait for itself", async (t) => {
  const probe: Runner = async (durable) => durable.select("self", [{ child: durable.task }, { after: 5_000 }]);
  const w = await world(t, { runners: { probe } });
  const { task } = await w.engine.start({
    runner: { kind: "probe", config: {} },
    agent: "p",
    input: {},
    rights: { tools: "*", roots: [] },
  });
  const { status, content } = await w.engine.result(task);
  assert.equal(status, "failed");
  assert.match((content as { message: string }).message, /is not a task of/);
});

test("message_task reaches a live child before its next turn, or before it ends if it answered at once", async (t) => {
  const w = await world(t);
  const file = led({ delegate: [{ agent: "worker", prompt: "x", mode: "background" }] });
  file.script.rules = [
    file.script.rules[0] ?? assert.fail(),
    {
      agent: "lead",
      turn: 1,
      last: { regex: "(tsk_\\w+)" },
      call: [
        { tool: "message_task", args: { task_id: "{{1}}", message: "hurry up" } },
        { tool: "wait_task", args: { task_id: "{{1}}" } },
      ],
    },
    { agent: "lead", say: "{{last}}" },
    { agent: "worker", last: "hurry", say: "hurried" },
    { agent: "worker", delay_ms: 400, say: "slow" },
  ];
  const { content } = await w.scalar(file);
  assert.match(String(content), /"result":"hurried"/);
});

test("cancel_task ends the child's loop for real and says which tasks it ended", async (t) => {
  const w = await world(t);
  const file = led({ delegate: [{ agent: "worker", prompt: "x", mode: "background" }] });
  file.script.rules = [
    file.script.rules[0] ?? assert.fail(),
    {
      agent: "lead",
      turn: 1,
      last: { regex: "(tsk_\\w+)" },
      call: [
        { tool: "cancel_task", args: { task_id: "{{1}}" } },
        { tool: "cancel_task", args: { task_id: "{{1}}" } },
      ],
    },
    { agent: "lead", say: "over" },
    { agent: "worker", delay_ms: 60_000, say: "never" },
  ];
  const root = await w.start(file);
  await w.engine.result(root);
  const [, first, second] = w.toolResults(leadOf(w, root)) as { canceled: { status: string }[] }[];
  assert.deepEqual(
    first?.canceled.map((each) => each.status),
    ["canceled"],
  );
  assert.deepEqual(second?.canceled, []);
  await w.engine.idle();
});

test("the result of somebody else's task that has ended stays theirs, also while tasks below it go on", async (t) => {
  const probe: Runner = async (durable) => {
    const theirs = z.object({ theirs: z.string() }).parse(durable.input).theirs;
    const tries = [
      () => durable.join([theirs]),
      () => durable.select("look", [{ child: theirs }]),
      () => durable.snapshot("see", [theirs]),
    ];
    const codes: string[] = [];
    for (const attempt of tries)
      codes.push(
        await attempt().then(
          () => "given",
          (thrown: { code: string }) => thrown.code,
        ),
      );
    return codes;
  };
  const w = await world(t, { runners: { probe } });
  const file = led({ delegate: [{ agent: "worker", prompt: "x", mode: "background" }] });
  file.script.rules[2] = { agent: "worker", delay_ms: 60_000, say: "x" };
  const other = await w.start(file);
  await w.engine.result(other);
  const theirs = leadOf(w, other);
  const { task } = await w.engine.start({
    runner: { kind: "probe", config: {} },
    agent: "p",
    input: { theirs },
    rights: { tools: "*", roots: [] },
  });
  assert.deepEqual((await w.engine.result(task)).content, ["refused", "refused", "refused"]);
  await w.engine.cancel(other, "done");
});

test("cancelling a leaf leaves its parent and its siblings alone", async (t) => {
  const w = await world(t);
  const root = await w.start({
    invocation: all([named("worker", "long"), named("worker", "short")]),
    agents: { worker },
    script: {
      rules: [
        { last: "long", delay_ms: 60_000, say: "x" },
        { delay_ms: 30, say: "fine" },
      ],
    },
  });
  await until(() => w.tree(root).length === 3);
  const long = w.tree(root)[1]?.id ?? "";
  assert.deepEqual(await w.engine.cancel(long, "enough"), [long]);
  const { content, status } = await w.engine.result(root);
  assert.equal(status, "completed");
  assert.deepEqual(
    (content as { results: { status: string }[] }).results.map((each) => each.status),
    ["canceled", "completed"],
  );
});
