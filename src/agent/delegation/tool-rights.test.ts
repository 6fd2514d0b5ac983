// What the tasks of an invocation may do: tools and rights, supervision, asks, budgets, tools of the client.

import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { z } from "zod";

import type { Runner } from "../../ports.ts";
import { all, named, single } from "../../protocol/invocation/invocation-builders.ts";
import { messageText } from "../../protocol/task/message.ts";
import { led, leadOf, person, worker } from "../../../test/support/lead-and-worker.ts";
import { world } from "../../../test/support/agent-kit.ts";
import { until } from "../../../test/support/wait-until.ts";

test("a tool outside the policy is refused to the model and does not run, external tools included", async (t) => {
  const w = await world(t);
  const file = {
    invocation: { ...single(named("worker", "go")), tools: { kind: "exact", tools: ["echo"] } },
    agents: { worker },
    external_tools: [{ name: "weather", description: "" }],
    roots: ["out"],
    script: {
      rules: [
        {
          turn: 0,
          call: [
            { tool: "write_file", args: { path: "a", content: "a" } },
            { tool: "weather" },
            { tool: "echo", args: { text: "hi" } },
          ],
        },
        { say: "{{last}}" },
      ],
    },
  };
  const { content } = await w.scalar(file);
  assert.match(String(content), /you may not use write_file.*you may not use weather.*hi$/s);
  assert.equal(existsSync(join(w.folder, "out", "a")), false);
});

test("policy none leaves an agent its own built-in tools and nothing of the client's", async (t) => {
  const w = await world(t);
  const base = {
    invocation: { ...single(named("worker", "go")), tools: { kind: "none" } },
    external_tools: [{ name: "weather", description: "" }],
    script: {
      rules: [{ turn: 0, call: [{ tool: "weather" }, { tool: "echo", args: { text: "hi" } }] }, { say: "{{last}}" }],
    },
  };
  const own = await w.scalar({ ...base, agents: { worker: { ...worker, tools: ["echo", "weather"] } } });
  assert.match(String(own.content), /you may not use weather.*\nhi$/s);
  const bare = await w.scalar({ ...base, agents: { worker } });
  assert.match(String(bare.content), /you may not use weather.*you may not use echo/s);
});

test("a child asking for tools beyond its parent's is refused before it exists, and its siblings start (invariant 6)", async (t) => {
  const w = await world(t);
  const root = await w.start({
    invocation: { ...single(named("lead", "go")), tools: { kind: "exact", tools: ["invoke_agent", "echo"] } },
    agents: { lead: worker, writer: { ...worker, tools: ["write_file"] }, reader: { ...worker, tools: ["echo"] } },
    script: {
      rules: [
        {
          agent: "lead",
          turn: 0,
          delegate: [
            { agent: "writer", prompt: "a" },
            { agent: "reader", prompt: "b" },
            { agent: "nobody", prompt: "c" },
          ],
        },
        { agent: "lead", say: "{{last}}" },
        { agent: "reader", say: "read" },
      ],
    },
  });
  const { content } = await w.engine.result(root);
  const said = String((content as { result: { content: unknown } }).result.content);
  assert.match(said, /writer: the caller may not use write_file.*"read".*there is no agent nobody/s);
  assert.deepEqual(
    w.tree(root).map((row) => row.agent),
    ["invocation", "lead", "reader"],
  );
});

test("an exact policy that names a tool nobody has is refused", async (t) => {
  const w = await world(t);
  const invocation = { ...single(named("worker", "a")), tools: { kind: "exact", tools: ["ehco"] } };
  assert.match((await w.refused({ invocation, agents: { worker } })).message, /there is no tool ehco/);
});

test("an ad-hoc agent gets what its maker is offered, without the means to call others", async (t) => {
  const w = await world(t);
  const file = led({ delegate: [{ system: "You echo.", prompt: "go" }] }, { tools: ["invoke_agent", "echo"] });
  file.script.rules.push(
    {
      agent: "_ad_hoc",
      turn: 0,
      call: [
        { tool: "echo", args: { text: "hi" } },
        { tool: "invoke_agent", args: { prompt: "x" } },
        { tool: "write_file", args: { path: "x", content: "" } },
      ],
    },
    { agent: "_ad_hoc", final: "{{last}}" },
  );
  const { content } = await w.scalar(file);
  assert.match(String(content), /hi.*you may not use invoke_agent.*you may not use write_file/s);
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

test("unknown tools, wrong arguments and thrown errors are told to the model and do not end the task", async (t) => {
  const w = await world(t);
  const calls = [
    { tool: "fly", args: {} },
    { tool: "echo", args: { text: 3 } },
    { tool: "write_file", args: { path: "../out", content: "" } },
    { tool: "invoke_agent", args: { prompt: "x", join: "all" } },
    { tool: "wait_task", args: { task_id: "tsk_0_0" } },
  ];
  const root = await w.start({ ...led({ call: calls }), roots: ["in"] });
  assert.equal((await w.engine.result(root)).status, "completed");
  const told = w.toolResults(leadOf(w, root)) as { error: { code: string; message: string } }[];
  assert.deepEqual(
    told.map((each) => each.error.code),
    ["not_found", "invalid_input", "refused", "invalid_input", "not_found"],
  );
});

test("write_file writes inside the roots, with the folders it needs", async (t) => {
  const w = await world(t);
  const { status } = await w.scalar({
    ...led({ call: [{ tool: "write_file", args: { path: "a/b/c.txt", content: "hello" } }] }),
    roots: ["out"],
  });
  assert.equal(status, "completed");
  assert.equal(readFileSync(join(w.folder, "out/a/b/c.txt"), "utf8"), "hello");
});

test("an agent that never finishes fails after its turns, with what to do about it", async (t) => {
  const w = await world(t);
  const result = await w.scalar({
    invocation: single(named("worker", "x")),
    agents: { worker: { ...worker, max_turns: 3 } },
    script: { rules: [{ call: [{ tool: "echo", args: { text: "again" } }] }] },
  });
  assert.equal(result.status, "failed");
  assert.match((result.content as { message: string }).message, /did not finish in 3 turns/);
});

test("without a rule the rehearsal says that it is one, and its messages carry its name", async (t) => {
  const w = await world(t);
  const result = await w.scalar({ invocation: single(named("worker", "x")), agents: { worker } });
  assert.match(String(result.content), /^\(rehearsal\)/);
  assert.equal(w.messages(result.task_id)[0]?.name, "rehearsal");
});

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

test("an ask is raised, answered by the first answer, and later ones are told so (invariant 8)", async (t) => {
  const w = await world(t);
  const root = await w.start(led({ ask: { question: "Which colour?", choices: ["red", "blue"] } }));
  const asked = await until(() => w.waits(root)[0]);
  assert.equal(asked.body.ask?.question, "Which colour?");
  assert.equal((await w.engine.deliver(asked.id, { kind: "question", value: "green" }, person)).outcome, "invalid");
  assert.equal((await w.engine.deliver(asked.id, { kind: "question", value: "blue" }, person)).outcome, "accepted");
  assert.equal((await w.engine.deliver(asked.id, { kind: "question", value: "red" }, person)).outcome, "late");
  await w.engine.result(root);
  assert.deepEqual(w.toolResults(leadOf(w, root)), [{ answered: true, value: "blue", by: "ana" }]);
});

test("an expired question is told as no answer, an expired approval as a denial (invariant 8)", async (t) => {
  const w = await world(t);
  const calls = [
    { tool: "ask", args: { question: "Why?", within_ms: 20 } },
    { tool: "ask", args: { question: "May I?", kind: "approval", within_ms: 20 } },
  ];
  const root = await w.start(led({ call: calls }));
  await w.engine.result(root);
  const [question, approval] = w.toolResults(leadOf(w, root)) as Record<string, unknown>[];
  assert.equal(question?.["answered"], false);
  assert.equal(question?.["meaning"], "no_answer");
  assert.equal(approval?.["approved"], false);
  assert.equal(approval?.["meaning"], "denied");
});

test("at the tree's token budget a person is asked: a raise lets work go on, a refusal stops it (invariant 7)", async (t) => {
  const spend = { input: 400, output: 100 };
  const file = {
    invocation: all([named("worker", "a"), named("worker", "b"), named("worker", "c")]),
    agents: { worker },
    budget: { tokens: 1_000 },
    script: { rules: [{ say: "ok", spend }] },
  };
  const w = await world(t);
  const raised = await w.start(file);
  const asked = await until(() => w.waits(raised)[0]);
  assert.equal(asked.body.ask?.kind, "budget");
  await w.engine.deliver(asked.id, { kind: "budget", go_on: true, limits: { tokens: 1_500 } }, person);
  const { content } = await w.engine.result(raised);
  assert.ok((content as { results: { status: string }[] }).results.every((each) => each.status === "completed"));

  const stopped = await w.start(file);
  const again = await until(() => w.waits(stopped)[0]);
  await w.engine.deliver(again.id, { kind: "budget", go_on: false }, person);
  const statuses = ((await w.engine.result(stopped)).content as { results: { status: string; content: unknown }[] })
    .results;
  assert.equal(statuses.filter((each) => each.status === "completed").length, 2);
  assert.match(JSON.stringify(statuses.find((each) => each.status === "failed")?.content), /"code":"over_budget"/);
});

test("a model without a price is asked about first when there is a limit of money", async (t) => {
  const w = await world(t);
  const root = await w.start({
    invocation: single(named("worker", "a")),
    agents: { worker },
    script: { rules: [{ say: "ok", spend: { input: 1, output: 1, money_micro_usd: null } }] },
  });
  const asked = await until(() => w.waits(root)[0]);
  assert.match(asked.body.ask?.question ?? "", /price of this model is not known/);
  await w.engine.deliver(asked.id, { kind: "budget", go_on: true }, person);
  assert.equal((await w.engine.result(root)).status, "completed");
});

test("calls of external tools wait for the client, all of a turn at once, and get what it delivers", async (t) => {
  const w = await world(t);
  const file = led({
    call: [
      { tool: "weather", args: { city: "Oslo" } },
      { tool: "weather", args: { city: "Rome" } },
    ],
  });
  const root = await w.start({
    ...file,
    external_tools: [{ name: "weather", description: "Looks out of the window." }],
  });
  const waits = await until(() => (w.waits(root).length === 2 ? w.waits(root) : undefined));
  for (const { id, body } of waits.toReversed()) {
    const { external_tool } = body.details as { external_tool: { tool_name: string; input: { city: string } } };
    assert.equal(external_tool.tool_name, "weather");
    assert.equal(
      (await w.engine.deliver(id, { rain: external_tool.input.city === "Oslo" }, person)).outcome,
      "accepted",
    );
  }
  await w.engine.result(root);
  const lead = leadOf(w, root);
  const asked = w.messages(lead).at(-1);
  assert.match(asked === undefined ? "" : messageText(asked), /\{"rain":true\}\n\{"rain":false\}/);
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

test("several invoke_agent calls of one turn run at once", async (t) => {
  const w = await world(t);
  const file = led({ delegate: Array.from({ length: 6 }, (_, index) => ({ agent: "worker", prompt: `${index}` })) });
  file.script.rules[2] = { agent: "worker", delay_ms: 300, say: "x" };
  const began = performance.now();
  await w.scalar(file);
  assert.ok(performance.now() - began < 1_500, "six of 300 ms one after the other would take 1800 ms");
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

test("a task that was handed over is still canceled, and still has its deadline", async (t) => {
  const w = await world(t);
  const file = led({ call: [{ tool: "handover", args: { agent: "worker", prompt: "x" } }] }, { handover: ["worker"] });
  file.script.rules[2] = { agent: "worker", delay_ms: 60_000, say: "x" };
  const handed = (root: string) => w.events(leadOf(w, root)).some((event) => event.type === "task.handed_over");
  const first = await w.start(file);
  await until(() => w.tree(first).length === 2 && handed(first));
  assert.equal((await w.engine.cancel(first, "enough")).length, 2);
  const { task: second } = await w.engine.start({ ...w.taskOf(file), deadline: Date.now() + 500 });
  await w.engine.idle();
  assert.ok(handed(second));
  assert.notEqual((await w.engine.result(leadOf(w, second))).status, "completed");
});

test("past the depth of the budget a call is refused to the model, which goes on", async (t) => {
  const w = await world(t);
  const { content, status } = await w.scalar({
    ...led({ delegate: [{ agent: "worker", prompt: "x" }] }),
    budget: { depth: 1 },
  });
  assert.equal(status, "completed");
  assert.match(String(content), /nested 1 levels deep/);
});

test("a grandchild that lists no tools still has no more than its caller was given (invariant 6)", async (t) => {
  const w = await world(t);
  const file = led({ delegate: [{ agent: "worker", prompt: "x" }] });
  file.script.rules[2] = {
    agent: "worker",
    turn: 0,
    call: [{ tool: "write_file", args: { path: "x", content: "x" } }],
  };
  file.script.rules.push({ agent: "worker", final: "{{last}}" });
  const invocation = { ...file.invocation, tools: { kind: "exact", tools: ["invoke_agent", "echo"] } };
  const { content } = await w.scalar({ ...file, invocation, roots: ["out"] });
  assert.match(String(content), /you may not use write_file; there are: echo/);
  assert.equal(existsSync(join(w.folder, "out")), false);
});
