// The loop with a model that calls tools in text: every way such a reply goes wrong costs a corrected turn and nothing more.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { z } from "zod";

import { builtinTools } from "../agent-environment.ts";
import { stepTool } from "../tools/tool.ts";
import { parseToolCalls } from "../../protocol/toolcalls/parse-tool-calls.ts";
import { recorded, solo, textOf } from "../../../test/support/recording-model.ts";
import { type World, world } from "../../../test/support/agent-kit.ts";

const fenced = { format: "fenced" };
const echoCall = (text: string): string => `\`\`\`tool\n{"name":"echo","args":{"text":"${text}"}}\n\`\`\``;
const broken = '```tool\n{"name":"echo","args":{"text":"C:\\q"}}\n```';
const failureOf = (result: { content: unknown }): string => (result.content as { message: string }).message;

interface Row {
  readonly id: string;
  readonly class?: string;
  readonly input: string;
}

const rows = ["toolcalls.jsonl", "toolcalls-tolerant.jsonl"].flatMap((name) =>
  readFileSync(`${import.meta.dirname}/../../../test/corpus/${name}`, "utf8")
    .trimEnd()
    .split("\n")
    .map((line): Row => JSON.parse(line)),
);

/** A tool of every name the corpus calls, which notes what it was called with. */
function corpusTools(noted: { name: string; args: unknown }[]) {
  const names = new Set(rows.flatMap(({ input }) => parseToolCalls(input).calls.map((call) => call.name)));
  const known = new Set(builtinTools.map((tool) => tool.name));
  return [...names]
    .filter((name) => !known.has(name))
    .map((name) =>
      stepTool({
        name,
        description: "",
        input: z.unknown(),
        repeatable: false,
        run(args) {
          noted.push({ name, args });
          return "noted";
        },
      }),
    );
}

test("after every recorded kind of broken reply, good calls ran once, losses are told and the task goes on", async (t) => {
  const noted: { name: string; args: unknown }[] = [];
  const model = recorded();
  const tools = [...builtinTools, ...corpusTools(noted)];
  const w = await world(t, { environment: { tools }, model: model.model });
  const classes = new Set<string>();
  let corrected = 0;
  for (const { id, class: kind = "", input } of rows) {
    noted.length = 0;
    model.sent.length = 0;
    const result = await w.scalar(solo([{ turn: 0, raw: input }, { final: "recovered" }], fenced));
    const read = parseToolCalls(input, { tools: [...tools.map((tool) => tool.name), "final", "invoke_agent"] });
    const lost = [
      ...read.errors.map((error) => error.code),
      ...read.violations
        .map((violation) => violation.kind)
        .filter((each) => /other_dialect|unregistered_call/.test(each)),
    ];
    assert.equal(result.status, "completed", id);
    const own = new Set(builtinTools.map((tool) => tool.name));
    const wanted = read.calls.filter((call) => !own.has(call.name)).map(({ name, args }) => ({ name, args }));
    assert.deepEqual(noted, wanted, `${id}: the good calls ran, each once, in order`);
    const seen = textOf(model.sent[1]?.messages ?? []);
    if (read.calls.length + lost.length > 0) assert.equal(result.content, "recovered", id);
    else assert.equal(result.content, read.prose === "" ? null : read.prose, `${id}: plain text is the answer`);
    if (lost.length === 0) continue;
    corrected += 1;
    classes.add(kind);
    assert.match(seen, /Not everything in your last reply could be run/, id);
    assert.match(seen, /```tool\n\{"name":"tool_name"/, `${id}: with an example in the format in use`);
    assert.match(seen, new RegExp(`${read.calls.length} ran.*, ${lost.length} rejected`), id);
    assert.ok(input.length < 20 || !seen.includes(`assistant: ${input}`), `${id}: the broken reply is not replayed`);
  }
  assert.ok(corrected > 40 && classes.size > 10, `${corrected} corrected turns of ${classes.size} classes`);
});

test("a bad block does not take the good ones with it; the record keeps the reply as it was written", async (t) => {
  const model = recorded();
  const w = await world(t, { model: model.model });
  const raw = `First this.\n${echoCall("kept")}\nThen that.\n${broken}`;
  const result = await w.scalar(solo([{ turn: 0, raw }, { final: "ok" }], fenced));
  assert.equal(result.content, "ok");
  const second = model.sent[1];
  const seen = textOf(second?.messages ?? []);
  assert.match(seen, /\[result of echo, call r1t0_tc_0\]\nkept\n\[end of result r1t0_tc_0\]/);
  assert.match(seen, /These calls of that reply ran all the same, do not repeat them: `echo`/);
  assert.ok(!seen.includes('C:\\q"}}'), "the malformed block is not shown again");
  assert.deepEqual(second?.tools, [], "the provider is offered no tools");
  assert.match(second?.system ?? "", /^Be brief\.\n\n# Calling tools/);
  assert.ok(
    stepsOf(w, result.task_id).some((body) => body.includes("Then that.")),
    "the step holds the original",
  );
});

function stepsOf(w: World, task: string): string[] {
  return w.events(task).map((event) => event.body ?? "");
}

test("calls in another form run, are events by kind with their number, and the model is told once of each kind", async (t) => {
  const model = recorded();
  const w = await world(t, { model: model.model });
  const drifted = (text: string): string => `\`\`\`tool_code\n{"name":"echo","args":{"text":"${text}"}}\n\`\`\``;
  const aliased = '```tool\n{"tool":"echo","arguments":{"text":"three"}}\n```';
  const rules = [
    { turn: 0, raw: `${drifted("one")}\n${drifted("two")}` },
    { turn: 1, raw: `${drifted("again")}\n${aliased}` },
    { turn: 2, raw: drifted("once more") },
    { turn: 3, raw: echoCall("as taught") },
    { say: "done" },
  ];
  const { task_id, content } = await w.scalar(solo(rules, fenced));
  assert.equal(content, "done");
  assert.deepEqual(w.toolResults(task_id), ["one", "two", "again", "three", "once more", "as taught"]);
  const events = w.events(task_id).filter(({ type }) => type === "call.drifted");
  const told = events.map(({ body }) => JSON.parse(body ?? "{}"));
  assert.deepEqual(
    told.map(({ kind, count }) => [kind, count]),
    [
      ["drifted_fence", 2],
      ["drifted_fence", 1],
      ["key_alias", 1],
      ["drifted_fence", 1],
    ],
  );
  const notes = (model.sent.at(-1)?.messages ?? []).filter(({ id }) => /\.feedback:\d+\.form$/.test(id ?? ""));
  assert.equal(notes.length, 2);
  assert.match(
    textOf(notes.slice(0, 1)),
    /understood, but not written as they should be:\n- A call came in a ```tool_code fence/,
  );
  assert.match(textOf(notes.slice(1)), /- The keys of a call are `name` and `args`/);
  assert.doesNotMatch(textOf(notes.slice(1)), /tool_code/);
});

test("the same error three times in a row fails the task; another error or a good turn resets the count", async (t) => {
  const w = await world(t);
  const stuck = await w.scalar(solo([{ raw: broken }], fenced));
  assert.equal(stuck.status, "failed");
  assert.match(failureOf(stuck), /same error 3 times in a row \(invalid_json\)/);
  const open = '```tool\n{"name":"echo","args":{"text":"x"';
  const turns = [broken, broken, open, broken, broken, echoCall("y"), broken, broken];
  const rules = [...turns.map((raw, turn) => ({ turn, raw })), { final: "made it" }];
  assert.equal((await w.scalar(solo(rules, fenced))).content, "made it");
});

test("a reply cut at its length: the open block does not run, complete ones do, a cut answer is no answer", async (t) => {
  const model = recorded();
  const w = await world(t, { model: model.model });
  const cut = `${echoCall("whole")}\n\`\`\`tool\n{"name":"echo","args":{"text":"half"}}`;
  const result = await w.scalar(
    solo(
      [
        { turn: 0, raw: cut, finish: "length" },
        { turn: 1, say: "An answer that stops in the mid", finish: "length" },
        { say: "short" },
      ],
      fenced,
    ),
  );
  assert.equal(result.content, "short");
  assert.deepEqual(w.toolResults(result.task_id), ["whole"]);
  assert.match(textOf(model.sent[1]?.messages ?? []), /cut at its length limit/);
  assert.match(textOf(model.sent[2]?.messages ?? []), /not taken as the answer/);
});

test("text in another dialect, and a json call of a tool that is not there, are told and not taken as the answer", async (t) => {
  const model = recorded();
  const w = await world(t, { model: model.model });
  const other = '<tool_call>echo({"text": "x"})</tool_call>';
  const unregistered = '```json\n{"name":"launch","args":{"at":1}}\n```';
  const result = await w.scalar(
    solo([{ turn: 0, raw: other }, { turn: 1, raw: unregistered }, { final: "told" }], fenced),
  );
  assert.equal(result.content, "told");
  assert.match(
    textOf(model.sent[1]?.messages ?? []),
    /If that text was your answer and not a call, give it with `final`/,
  );
  assert.match(textOf(model.sent[2]?.messages ?? []), /The tools are: .*`echo`/);
});

test("unknown tools and wrong arguments are told by name and path, in the message with the good results", async (t) => {
  const model = recorded();
  const w = await world(t, { model: model.model });
  const call = [
    { tool: "echo", args: { text: "fine" } },
    { tool: "ecco", args: {} },
    { tool: "echo", args: { text: 7 } },
  ];
  await w.scalar(solo([{ turn: 0, call }, { say: "ok" }], fenced));
  const results = (model.sent[1]?.messages ?? []).filter((message) => message.name === "tool_results");
  assert.equal(results.length, 1);
  const seen = textOf(results);
  assert.match(seen, /call r1t0_tc_0\]\nfine/);
  assert.match(seen, /there is no tool ecco; there are: .*echo/);
  assert.match(seen, /text: .*expected string, received number/);
});

test("final beside a call that could not be read does not end the task", async (t) => {
  const w = await world(t);
  const both = `${broken}\n\`\`\`tool\n{"name":"final","args":{"content":"early"}}\n\`\`\``;
  const result = await w.scalar(solo([{ turn: 0, raw: both }, { final: "after all" }], fenced));
  assert.equal(result.content, "after all");
});

test("one script gives the same results in both formats, and what is kept does not tell them apart", async (t) => {
  const rules = [
    {
      agent: "a",
      turn: 0,
      say: "Two things.",
      call: [
        { tool: "echo", args: { text: "one" } },
        { tool: "echo", args: { text: '```tool\n"two"' } },
      ],
    },
    { agent: "a", turn: 1, delegate: [{ system: "Help.", prompt: "three" }] },
    { agent: "a", final: { all: true } },
    { agent: "_ad_hoc", say: "helped with {{user}}" },
  ];
  const kept: string[] = [];
  for (const format of ["native", "fenced"]) {
    const w = await world(t);
    const result = await w.scalar(solo(rules, { format }));
    assert.deepEqual(result.content, { all: true });
    const parts = w.messages(result.task_id).map((message) => message.parts);
    kept.push(
      JSON.stringify(parts)
        .replaceAll(/"tool_call_id":"[^"]*"/g, "")
        .replaceAll(/tsk_\w+/g, "tsk"),
    );
  }
  assert.equal(kept[0], kept[1]);
});

test("auto takes the format the model says it has", async (t) => {
  const model = recorded({ facts: () => ({ format: "fenced", contextTokens: null, maxOutputTokens: 1000 }) });
  const w = await world(t, { model: model.model });
  const rules = [{ turn: 0, call: [{ tool: "echo", args: { text: "x" } }] }, { say: "ok" }];
  await w.scalar(solo(rules, { format: "auto" }));
  assert.equal(model.sent[0]?.tools.length, 0);
  model.sent.length = 0;
  await w.scalar(solo(rules, { format: "native" }));
  assert.ok(model.sent[0]?.tools.includes("echo"));
});

test("an agent with the profile strict runs only calls in the exact format; a tolerant one runs the drifted ones too", async (t) => {
  const w = await world(t);
  const drifted = '```tool_code\n{"tool": "echo", "arguments": {"text": "hi"}}\n```';
  const rules = [{ turn: 0, raw: drifted }, { final: "{{last}}" }];
  assert.match(String((await w.scalar(solo(rules, fenced))).content), /\nhi\n/);
  const strict = await w.scalar(solo(rules, { ...fenced, profile: "strict" }));
  assert.equal(strict.content, drifted, "to the letter it is prose, and so the answer");
});

test("calls in a model's own dialect run with the types of the tool's schema, and of a broken reply none runs", async (t) => {
  const noted: unknown[] = [];
  const repeat = stepTool({
    name: "repeat",
    description: "",
    input: z.object({ text: z.string(), times: z.number().int(), loud: z.boolean().optional() }),
    repeatable: false,
    run(args) {
      noted.push(args);
      return "noted";
    },
  });
  const model = recorded();
  const w = await world(t, { environment: { tools: [...builtinTools, repeat] }, model: model.model });
  const qwen = (times: string): string =>
    `<tool_call>\n<function=repeat>\n<parameter=text>\n7\n</parameter>\n<parameter=times>\n${times}\n</parameter>\n</function>\n</tool_call>`;
  const cut = `${qwen("1")}\n${qwen("2").slice(0, -30)}`;
  const result = await w.scalar(
    solo(
      [
        { turn: 0, raw: qwen("3") },
        { turn: 1, raw: '[repeat(text="x", times=4, loud=True)]' },
        { turn: 2, raw: cut },
        { final: "done" },
      ],
      fenced,
    ),
  );
  assert.equal(result.content, "done");
  assert.deepEqual(noted, [
    { text: "7", times: 3 },
    { text: "x", times: 4, loud: true },
  ]);
  assert.match(
    textOf(model.sent.at(-1)?.messages ?? []),
    /qwen3-coder dialect, the reply ends inside it[^]*No call of that reply ran/,
  );
});
