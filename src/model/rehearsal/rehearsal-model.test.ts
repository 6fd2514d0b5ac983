import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "../../../test/support/properties.ts";

import type { ModelRequest } from "../../model-port.ts";
import { TuttiError } from "../../protocol/error.ts";
import {
  completeMessage,
  type CompleteMessage,
  type Message,
  messageText,
  userMessage,
} from "../../protocol/task/message.ts";
import { parseToolCalls } from "../../protocol/toolcalls/parse-tool-calls.ts";
import { rehearsalModel } from "./rehearsal-model.ts";

const idle = new AbortController().signal;

function request(messages: readonly Message[], agent = "a"): ModelRequest {
  const complete = messages.map((message, index) => completeMessage(message, { id: `m${index}`, now: index }));
  return { model: "rehearsal/script", agent, system: "", messages: complete, tools: [] };
}

function replied(text: string, agent = "a"): Message {
  return { name: null, role: "assistant", agent_id: agent, parts: [{ part_type: "text", data: text }] };
}

function result(text: string): Message {
  const data = { tool_call_id: "c", tool_name: "t", parts: [{ part_type: "text" as const, data: text }] };
  return { name: null, role: "tool", parts: [{ part_type: "tool_result", data }] };
}

async function text(script: unknown, messages: readonly Message[], agent?: string): Promise<string> {
  const { message } = await rehearsalModel(script).call(request(messages, agent), { signal: idle });
  return messageText(message);
}

test("the first rule that fits agent, turn and last message answers", async () => {
  const script = {
    rules: [
      { agent: "b", say: "for b" },
      { last: "hello", say: "hello yourself" },
      { last: { regex: "^num (\\d+)-(\\d+)" }, say: "{{2}} then {{1}} of {{0}}" },
      { turn: 1, say: "second" },
      { say: "else: {{last}} / {{user}}" },
    ],
  };
  assert.equal(await text(script, [userMessage("hello")], "b"), "for b");
  assert.equal(await text(script, [userMessage("oh, hello")]), "hello yourself");
  assert.equal(await text(script, [userMessage("num 12-34")]), "34 then 12 of num 12-34");
  assert.equal(await text(script, [userMessage("x"), replied("y"), result("z")]), "second");
  assert.equal(await text(script, [userMessage("x"), replied("y"), replied("y"), result("z")]), "else: z / x");
});

test("the last message is all that came since the last reply, data as JSON", async () => {
  const data: Message = {
    name: null,
    role: "tool",
    parts: [
      {
        part_type: "tool_result",
        data: { tool_call_id: "c", tool_name: "t", parts: [{ part_type: "data", data: { n: 1 } }] },
      },
    ],
  };
  const said = await text({ rules: [{ say: "{{last}}" }] }, [userMessage("x"), replied("y"), result("one"), data]);
  assert.equal(said, 'one\n{"n":1}');
});

test("a rule is passed over once it has answered `times` in the conversation, replies of other agents not counted", async () => {
  const script = { rules: [{ times: 2, say: "again" }, { say: "enough" }] };
  const talk: Message[] = [userMessage("x")];
  const said: string[] = [];
  for (let turn = 0; turn < 3; turn += 1) {
    said.push(await text(script, talk));
    talk.push(replied(said.at(-1) ?? ""), replied("noise", "other"), result("r"));
  }
  assert.deepEqual(said, ["again", "again", "enough"]);
});

test("a rule whose pattern backtracks without end in JavaScript answers at once", async () => {
  const script = { rules: [{ last: { regex: "^(a+)+$" }, say: "all a" }, { say: "not only a" }] };
  const started = performance.now();
  assert.equal(await text(script, [userMessage(`${"a".repeat(50_000)}!`)]), "not only a");
  assert.ok(performance.now() - started < 5_000);
});

test("the same request gets the same reply from any instance: nothing is remembered between calls", async () => {
  const script = {
    rules: [
      { times: 1, last: "a", say: "one {{last}}" },
      { turn: 1, say: "two" },
      { last: "b", call: [{ tool: "t", args: { x: "{{user}}" } }] },
    ],
  };
  const parts = fc.array(fc.constantFrom(userMessage("a"), userMessage("b"), replied("r"), result("a")), {
    minLength: 1,
    maxLength: 8,
  });
  const shared = rehearsalModel(script);
  await fc.assert(
    fc.asyncProperty(parts, async (messages) => {
      const fresh = await rehearsalModel(script).call(request(messages), { signal: idle });
      assert.deepEqual(await shared.call(request(messages), { signal: idle }), fresh);
    }),
    { numRuns: 200 },
  );
});

test("say, call, delegate, ask and final become one reply with calls of distinct ids, placeholders filled everywhere", async () => {
  const script = {
    rules: [
      {
        say: "working",
        call: [{ tool: "echo", args: { deep: ["{{user}}", 3] } }, { tool: "noargs" }],
        delegate: [{ agent: "w", prompt: "do {{user}}" }],
        ask: { question: "ok?", kind: "approval" },
        final: { got: "{{last}}" },
      },
    ],
  };
  const { message, finish } = await rehearsalModel(script).call(request([userMessage("it")]), { signal: idle });
  assert.equal(finish, "tools");
  assert.equal(message.name, "rehearsal");
  const calls = message.parts.flatMap((part) => (part.part_type === "tool_call" ? [part.data] : []));
  assert.deepEqual(
    calls.map(({ tool_name, input }) => [tool_name, input]),
    [
      ["echo", { deep: ["it", 3] }],
      ["noargs", {}],
      ["invoke_agent", { agent: "w", prompt: "do it" }],
      ["ask", { question: "ok?", kind: "approval" }],
      ["final", { content: { got: "it" } }],
    ],
  );
  assert.equal(new Set(calls.map((call) => call.tool_call_id)).size, 5);
});

test("fail throws the scripted error with its retry verdict", async () => {
  const model = rehearsalModel({ rules: [{ fail: { code: "busy", message: "full", retry: "unknown" } }] });
  await assert.rejects(model.call(request([userMessage("x")]), { signal: idle }), (thrown) => {
    assert.ok(thrown instanceof TuttiError);
    assert.deepEqual([thrown.code, thrown.message, thrown.retry], ["busy", "full", "unknown"]);
    return true;
  });
});

test("a delay ends at once when the call is aborted, also one aborted before it began", async () => {
  const model = rehearsalModel({ rules: [{ delay_ms: 60_000, say: "x" }] });
  const controller = new AbortController();
  const call = model.call(request([userMessage("x")]), { signal: controller.signal });
  controller.abort(new Error("stop"));
  await assert.rejects(call, /stop/);
  await assert.rejects(model.call(request([userMessage("x")]), { signal: controller.signal }), /stop/);
});

test("spending is the script's, else a token per four characters and no money; the estimate is what will be used", async () => {
  const priced = rehearsalModel({ rules: [{ say: "x", spend: { input: 10, output: 5, money_micro_usd: null } }] });
  const wanted = request([userMessage("x")]);
  assert.deepEqual(priced.estimate(wanted), { input_tokens: 10, output_tokens: 5, money_micro_usd: null });
  const free = rehearsalModel({ rules: [{ say: "x".repeat(400) }] });
  const estimate = free.estimate(wanted);
  assert.ok(estimate.output_tokens >= 100 && estimate.output_tokens < 120 && estimate.money_micro_usd === 0);
  assert.deepEqual((await free.call(wanted, { signal: idle })).usage, estimate);
});

test("when nothing matches it says that this is a rehearsal", async () => {
  assert.match(await text({ rules: [] }, [userMessage("x")]), /^\(rehearsal\) No rule .* answers a here/);
});

test("a mistake in a script is an error that names the rule", () => {
  const bad: [unknown, RegExp][] = [
    [{ rules: [{ say: "x" }, { last: { regex: "(" }, say: "x" }] }, /rules\[1\]\.last/],
    [{ rules: [{ say: "x" }, { last: { regex: "(a)\\1" }, say: "x" }] }, /rules\[1\]\.last: .*backreferences are not/],
    [{ rules: [{ agent: "a" }] }, /rules\[0\]: does nothing/],
    [{ rules: [{ say: "x", fail: { code: "io" } }] }, /rules\[0\]\.fail: a reply that fails can do nothing else/],
    [{ rules: [{ fail: { code: "tired" } }] }, /rules\[0\]\.fail\.code: is not an error code/],
    [{ rules: [{ say: "{{lst}}" }] }, /rules\[0\]: \{\{lst\}\} is not a placeholder/],
    [{ rules: [{ say: "x", sya: 1 }] }, /rules\[0\].*sya/],
    [{ rules: [{ delegate: [{ prompt: "x", agent: "a", system: "b" }] }] }, /rules\[0\]\.delegate\[0\]/],
  ];
  for (const [script, expected] of bad) {
    assert.throws(
      () => rehearsalModel(script),
      (thrown) => {
        assert.ok(thrown instanceof TuttiError && thrown.code === "invalid_input");
        assert.match(thrown.message, expected);
        return true;
      },
    );
  }
});

test("text is handed on as it is spoken", async () => {
  const heard: string[] = [];
  const messages: CompleteMessage[] = [completeMessage(userMessage("x"), { id: "m", now: 0 })];
  await rehearsalModel({ rules: [{ say: "aloud" }] }).call(
    { ...request([]), messages },
    { signal: idle, onText: (piece) => heard.push(piece) },
  );
  assert.equal(heard.join(""), "aloud");
});

test("in the fenced format the same reply is one text whose blocks read back as the same calls", async () => {
  const script = {
    rules: [{ say: "working", call: [{ tool: "echo", args: { deep: ["{{user}}", 3] } }], final: "done" }],
  };
  const asked = { ...request([userMessage("x")]), format: "fenced" as const };
  const { message, finish } = await rehearsalModel(script).call(asked, { signal: idle });
  assert.deepEqual([finish, message.parts.length], ["stop", 1]);
  const read = parseToolCalls(messageText(message), { profile: "strict" });
  assert.deepEqual(
    read.calls.map(({ name, args }) => ({ name, args })),
    [
      { name: "echo", args: { deep: ["x", 3] } },
      { name: "final", args: { content: "done" } },
    ],
  );
  assert.deepEqual(read.errors, []);
});
