// What the loop does with the calls of a turn: who goes first, what is asked about, what is repeated, what is too large, what ends it.

import assert from "node:assert/strict";
import { test } from "node:test";

import { z } from "zod";

import { builtinTools } from "../agent-environment.ts";
import { stepTool } from "../tools/tool.ts";
import { messageText } from "../../protocol/task/message.ts";
import { leadOf, led, person } from "../../../test/support/lead-and-worker.ts";
import { callOf, recorded, replying, saying, solo, textOf } from "../../../test/support/recording-model.ts";
import { world } from "../../../test/support/agent-kit.ts";
import { until } from "../../../test/support/wait-until.ts";

const failureOf = (result: { content: unknown }): string => (result.content as { message: string }).message;

/** Tools that note when they begin and end. */
function noting(order: string[]) {
  const tool = (name: string, effects: readonly ["read" | "write"]) =>
    stepTool({
      name,
      description: "",
      input: z.strictObject({ as: z.string() }),
      repeatable: false,
      effects,
      async run({ as }) {
        order.push(`+${as}`);
        await new Promise((resolve) => setTimeout(resolve, 15));
        order.push(`-${as}`);
        return as;
      },
    });
  return [tool("look", ["read"]), tool("change", ["write"])];
}

test("reads of a turn run at once, changes in order, and a read keeps its place among the changes", async (t) => {
  const order: string[] = [];
  const reply = saying(
    callOf("look", { as: "a" }, "1"),
    callOf("look", { as: "b" }, "2"),
    callOf("change", { as: "c" }, "3"),
    callOf("look", { as: "d" }, "4"),
    callOf("change", { as: "e" }, "5"),
  );
  const w = await world(t, {
    environment: { tools: [...builtinTools, ...noting(order)] },
    model: recorded(replying(reply)).model,
  });
  assert.equal((await w.scalar(solo([]))).content, "done");
  assert.deepEqual(order, ["+a", "+b", "-a", "-b", "+c", "-c", "+d", "-d", "+e", "-e"]);
});

test("nothing of a turn runs before all that needs it is approved; what is denied is told, the rest runs", async (t) => {
  const order: string[] = [];
  const approvals = [
    { from: "project" as const, rules: { tools: { change: "ask" as const, echo: "refuse" as const } } },
  ];
  const reply = saying(
    callOf("look", { as: "a" }, "1"),
    callOf("change", { as: "yes" }, "2"),
    callOf("change", { as: "no" }, "3"),
    callOf("echo", { text: "never" }, "4"),
  );
  const w = await world(t, {
    environment: { tools: [...builtinTools, ...noting(order)], approvals },
    model: recorded(replying(reply)).model,
  });
  const root = await w.start(solo([]));
  const waits = await until(() => {
    const open = w.waits(root);
    return open.length === 2 && open;
  });
  await new Promise((resolve) => setTimeout(resolve, 30));
  assert.deepEqual(order, [], "not even the read has run");
  assert.match(waits[0]?.body.ask?.question ?? "", /May a call change\?/);
  for (const { id, body } of waits) {
    const approved = JSON.stringify(body).includes('"as":"yes"');
    await w.engine.deliver(id, { kind: "approval", approved, ...(approved ? {} : { reason: "too late" }) }, person);
  }
  const { content } = await w.engine.result(root);
  const { result } = content as { result: { task_id: string } };
  assert.deepEqual(order, ["+a", "-a", "+yes", "-yes"]);
  const told = JSON.stringify(w.toolResults(result.task_id));
  assert.match(told, /not allowed: too late/);
  assert.match(told, /not allowed: the project's config refuses .*echo/);
});

test("a denied call of an agent is not made; the others of the turn are", async (t) => {
  const approvals = [{ from: "project" as const, rules: { tools: { invoke_agent: "refuse" as const } } }];
  const w = await world(t, { environment: { approvals } });
  const rules = [
    { turn: 0, delegate: [{ prompt: "x" }], call: [{ tool: "echo", args: { text: "y" } }] },
    { say: "{{last}}" },
  ];
  const root = await w.start(solo(rules));
  const { content } = await w.engine.result(root);
  assert.match(JSON.stringify(content), /y.*not allowed|not allowed.*y/);
  assert.equal(w.tree(root).length, 2);
});

test("the same call with the same result is warned about, then withheld, then the task is stopped", async (t) => {
  const model = recorded();
  const w = await world(t, { model: model.model });
  const result = await w.scalar(solo([{ call: [{ tool: "echo", args: { text: "again" } }] }]));
  assert.equal(result.status, "failed");
  assert.match(failureOf(result), /goes round in circles: the model called echo 4 times/);
  assert.equal(model.sent.length, 4);
  assert.doesNotMatch(textOf(model.sent[1]?.messages ?? []), /You made this very call/);
  assert.match(textOf(model.sent[2]?.messages ?? []), /again\n\[You made this very call before/);
  assert.match(textOf(model.sent[3]?.messages ?? []), /tool: \[Withheld: you made this very call twice before/);
});

test("a result that changed, other arguments, waiting, and calls beside each other are no circle", async (t) => {
  let count = 0;
  const counter = stepTool({
    name: "count",
    description: "",
    input: z.strictObject({}),
    repeatable: true,
    run: () => (count += 1),
  });
  const w = await world(t, { environment: { tools: [...builtinTools, counter] } });
  const rules = [
    ...[0, 1, 2, 3, 4, 5].map((turn) => ({
      turn,
      call: [
        { tool: "count" },
        { tool: "sleep", args: { ms: 1 } },
        ...Array.from({ length: 3 }, () => ({ tool: "echo", args: { text: `turn ${turn}` } })),
      ],
    })),
    { say: "done" },
  ];
  assert.equal((await w.scalar(solo(rules))).content, "done");
});

test("a large result is kept whole, shown as a preview, and can be paged through to its end", async (t) => {
  const big = Array.from({ length: 9000 }, (_, line) => `line ${line}`).join("\n");
  const tool = stepTool({ name: "big", description: "", input: z.strictObject({}), repeatable: true, run: () => big });
  const model = recorded();
  const w = await world(t, { environment: { tools: [...builtinTools, tool] }, model: model.model });
  const rules = [
    { turn: 0, call: [{ tool: "big" }] },
    {
      last: { regex: 'read_result (?:\\{"id":"(\\w+)"|.*)' },
      turn: 1,
      call: [{ tool: "read_result", args: { id: "{{1}}", offset: 48_000 } }],
    },
    { say: "done" },
  ];
  const result = await w.scalar(solo(rules));
  assert.equal(result.content, "done");
  const shown = textOf(model.sent[1]?.messages ?? []);
  assert.ok(shown.length < 30_000 && shown.includes("line 8999") && !shown.includes("line 4500"));
  assert.ok(w.toolResults(result.task_id).includes(big), "the record holds all of it");
  assert.match(textOf(model.sent[2]?.messages ?? []), /line 5000/);
});

test("final is checked against the agent's output schema: a miss is told by path, a text that fits will do", async (t) => {
  const output_schema = {
    type: "object",
    properties: { n: { type: "integer" } },
    required: ["n"],
    additionalProperties: false,
  };
  const model = recorded();
  const w = await world(t, { model: model.model });
  const rules = [{ turn: 0, final: { n: "one" } }, { turn: 1, say: "It is one." }, { final: { n: 1 } }];
  assert.deepEqual((await w.scalar(solo(rules, { output_schema }))).content, { n: 1 });
  assert.match(textOf(model.sent[1]?.messages ?? []), /does not fit the task's schema: n: must be integer, not string/);
  assert.match(textOf(model.sent[2]?.messages ?? []), /needs a result that fits its schema/);
  assert.deepEqual((await w.scalar(solo([{ say: '{"n": 2}' }], { output_schema }))).content, { n: 2 });
  const never = await w.scalar(solo([{ say: "no" }], { output_schema }));
  assert.match(failureOf(never), /same error 3 times in a row \(no_result\)/);
  const broken = await w.scalar(solo([{ say: "x" }], { output_schema: { type: "nonsense" } }));
  assert.match(failureOf(broken), /output_schema cannot be used/);
});

test("a task that does not finish in its turns fails and says what to do", async (t) => {
  const w = await world(t);
  const rules = [{ last: { regex: "(x*)$" }, call: [{ tool: "echo", args: { text: "x{{1}}" } }] }];
  const result = await w.scalar(solo(rules, { max_turns: 6 }));
  assert.match(failureOf(result), /did not finish in 6 turns; raise max_turns/);
});

test("two hundred turns: every request is the one before it and what was added, and the end is reached", async (t) => {
  for (const format of ["native", "fenced"]) {
    const model = recorded();
    const w = await world(t, { model: model.model });
    const rules = [
      { turn: 200, final: "walked" },
      { last: { regex: "\\b(1+)(?:\\n\\[end.*)?$" }, call: [{ tool: "echo", args: { text: "{{1}}1" } }] },
      { call: [{ tool: "echo", args: { text: "1" } }] },
    ];
    const result = await w.scalar(solo(rules, { format, max_turns: 300, context_tokens: 10_000_000 }));
    assert.equal(result.content, "walked", format);
    assert.equal(model.sent.length, 201);
    for (const [index, { messages }] of model.sent.entries()) {
      const before = model.sent[index - 1]?.messages ?? [];
      assert.ok(
        before.every((message, at) => messages[at] === message),
        "the prefix is the same, not a copy of it",
      );
      assert.equal(messages.length, index === 0 ? 1 : before.length + 2);
    }
  }
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
