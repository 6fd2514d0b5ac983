import assert from "node:assert/strict";
import { test } from "node:test";

import { z } from "zod";

import { world, World } from "../../../test/support/agent-kit.ts";
import { tempFolder } from "../../../test/support/temp-folder.ts";
import { until } from "../../../test/support/wait-until.ts";
import { worker } from "../../../test/support/lead-and-worker.ts";
import type { Model, ModelReply, ModelRequest } from "../../model-port.ts";
import { named, single } from "../../protocol/invocation/invocation-builders.ts";
import type { Part } from "../../protocol/task/message.ts";
import { builtinTools } from "../agent-environment.ts";
import { stepTool } from "../tools/tool.ts";

const file = { invocation: single(named("a", "go")), agents: { a: { instructions: "x" } } };
const usage = { input_tokens: 1, output_tokens: 1, money_micro_usd: 0 };

function say(...parts: Part[]): ModelReply {
  return { message: { name: null, role: "assistant", parts }, usage, finish: "stop" };
}

const text = (data: string): Part => ({ part_type: "text", data });
const call = (tool_name: string, input: unknown, tool_call_id = tool_name): Part => ({
  part_type: "tool_call",
  data: { tool_call_id, tool_name, input },
});

function modelOf(reply: (turn: number) => ModelReply | Promise<ModelReply>): () => Model {
  let calls = 0;
  const model: Model = { estimate: () => usage, call: async () => reply(calls++) };
  return () => model;
}

test("a tool that throws anything at all is told to the model", async (t) => {
  const broken = stepTool({
    name: "broken",
    description: "",
    input: z.strictObject({}),
    repeatable: true,
    run: () => {
      throw new RangeError("off the scale");
    },
  });
  const w = await world(t, {
    environment: { tools: [...builtinTools, broken] },
    model: modelOf((turn) => (turn === 0 ? say(call("broken", {})) : say(text("went on")))),
  });
  const result = await w.scalar(file);
  assert.equal(result.content, "went on");
  assert.deepEqual(w.toolResults(result.task_id), [{ error: { code: "internal", message: "off the scale" } }]);
});

test("a tool cut off before its outcome was known is told as unknown and not run a second time (invariant 1)", async (t) => {
  const folder = tempFolder(t);
  let runs = 0;
  const hanging = stepTool({
    name: "hang",
    description: "",
    input: z.strictObject({}),
    repeatable: false,
    run: () => {
      runs += 1;
      return new Promise(() => undefined);
    },
  });
  const options = {
    environment: { tools: [...builtinTools, hanging] },
    model: () => ({
      estimate: () => usage,
      call: async (request: { messages: readonly unknown[] }) =>
        request.messages.length === 1 ? say(call("hang", {})) : say(text("I will look first.")),
    }),
  };
  const first = new World(folder, options);
  const root = await first.start(file);
  await until(() => runs === 1);
  await first.close();
  const second = new World(folder, options);
  t.after(() => second.close());
  await second.engine.recover();
  const { content } = await second.engine.result(root);
  assert.equal(runs, 1);
  const { result } = content as { result: { content: unknown; task_id: string } };
  assert.equal(result.content, "I will look first.");
  const [told] = second.toolResults(result.task_id) as { error: { code: string } }[];
  assert.equal(told?.error.code, "outcome_unknown");
});

test("calls of one turn go in order; those that wait do not hold up the ones after them", async (t) => {
  const order: string[] = [];
  const note = stepTool({
    name: "note",
    description: "",
    input: z.strictObject({ as: z.string(), ms: z.number() }),
    repeatable: false,
    async run({ as, ms }) {
      await new Promise((resolve) => setTimeout(resolve, ms));
      order.push(as);
      return as;
    },
  });
  const w = await world(t, {
    environment: { tools: [...builtinTools, note] },
    model: modelOf((turn) =>
      turn === 0
        ? say(
            call("sleep", { ms: 60 }, "s"),
            call("note", { as: "first", ms: 20 }, "1"),
            call("note", { as: "second", ms: 0 }, "2"),
          )
        : say(text("done")),
    ),
  });
  const result = await w.scalar(file);
  assert.deepEqual(order, ["first", "second"]);
  assert.equal(w.messages(result.task_id).filter((message) => message.role === "tool").length, 3);
});

test("final beside other calls is refused, since the model has not seen their results", async (t) => {
  const replies = [
    say(call("final", { content: "unseen" }), call("echo", { text: "still done" })),
    say(call("final", { content: { n: 1 } })),
  ];
  let turn = -1;
  const w = await world(t, { model: modelOf(() => replies[(turn += 1)] ?? say(text("too far"))) });
  const result = await w.scalar(file);
  assert.deepEqual(result.content, { n: 1 });
  assert.ok(w.toolResults(result.task_id).includes("still done"));
  assert.match(JSON.stringify(w.toolResults(result.task_id)), /final must be the only call/);
});

test("without final the last text is the result, null when blank", async (t) => {
  const silent = await world(t, { model: modelOf(() => say(text(""))) });
  assert.equal((await silent.scalar(file)).content, null);
});

test("mail that came in before final is heard, and the task goes on", async (t) => {
  let release: () => void = () => undefined;
  const gate = new Promise<void>((resolve) => (release = resolve));
  const heard: string[] = [];
  const w = await world(t, {
    model: () => ({
      estimate: () => usage,
      async call({ messages }) {
        heard.push(JSON.stringify(messages));
        if (heard.length === 1) await gate;
        return say(call("final", { content: `end ${heard.length}` }));
      },
    }),
  });
  const root = await w.start(file);
  await until(() => heard.length === 1);
  await w.engine.message(w.tree(root)[1]?.id ?? "", { name: null, role: "user", parts: [text("wait, one more")] });
  release();
  const { content } = await w.engine.result(root);
  assert.equal((content as { result: { content: unknown } }).result.content, "end 2");
  assert.match(heard[1] ?? "", /wait, one more.*did not end/);
});

test("mail from outside is heard between turns, and before an answer becomes the end", async (t) => {
  let release: () => void = () => undefined;
  const gate = new Promise<void>((resolve) => (release = resolve));
  const heard: string[] = [];
  const w = await world(t, {
    model: () => ({
      estimate: () => usage,
      async call({ messages }) {
        heard.push(JSON.stringify(messages.at(-1)?.parts));
        if (heard.length === 1) await gate;
        return say(text(`answer ${heard.length}`));
      },
    }),
  });
  const root = await w.start(file);
  await until(() => heard.length === 1);
  const task = w.tree(root)[1]?.id ?? "";
  await w.engine.message(task, { name: null, role: "user", parts: [text("one more thing")] });
  release();
  const { content } = await w.engine.result(root);
  assert.equal((content as { result: { content: unknown } }).result.content, "answer 2");
  assert.match(heard[1] ?? "", /one more thing/);
});

test("after a handover the next agent sees the whole conversation but not the call that handed it over", async (t) => {
  const seen: string[][] = [];
  const w = await world(t, {
    model: () => ({
      estimate: () => usage,
      async call({ agent, messages }) {
        if (agent === "a")
          return say(text("not mine"), call("echo", { text: "x" }), call("handover", { agent: "b", prompt: "yours" }));
        seen.push(
          messages.flatMap((message) =>
            message.parts.map((part) => (part.part_type === "text" ? part.data : part.part_type)),
          ),
        );
        return say(text("mine"));
      },
    }),
  });
  const agents = { a: { instructions: "x", handover: ["b"] }, b: { instructions: "y" } };
  assert.equal((await w.scalar({ ...file, agents })).content, "mine");
  assert.deepEqual(seen, [["go", "not mine", "tool_call", "tool_result", "yours"]]);
});

test("without a rule the rehearsal says that it is one, and its messages carry its name", async (t) => {
  const w = await world(t);
  const result = await w.scalar({ invocation: single(named("worker", "x")), agents: { worker } });
  assert.match(String(result.content), /^\(rehearsal\)/);
  assert.equal(w.messages(result.task_id)[0]?.name, "rehearsal");
});

const nothing: ModelReply = { ...say(), finish: "empty" };

test("an empty reply is told to the model as one strike; three in a row fail the task", async (t) => {
  const sent: string[] = [];
  const spoken = (model: () => Model) => (): Model => {
    const inner = model();
    const heard = (request: ModelRequest): void => void sent.push(JSON.stringify(request.messages));
    return { ...inner, call: (request, options) => (heard(request), inner.call(request, options)) };
  };
  const w = await world(t, { model: spoken(modelOf((turn) => (turn < 2 ? nothing : say(text("here"))))) });
  assert.equal((await w.scalar(file)).content, "here");
  assert.match(sent[1] ?? "", /Your last reply was empty/);
  const silent = await world(t, { model: modelOf(() => nothing) });
  const failed = await silent.scalar(file);
  assert.equal(failed.status, "failed");
  assert.match(JSON.stringify(failed.content), /same error 3 times in a row \(empty_reply\)/);
});

test("the size of the conversation is that of the try which succeeded, so that a lost one shortens nothing", async (t) => {
  const agents: string[] = [];
  const lossy = (turn: number): ModelReply => ({
    ...(turn < 12 ? say(call("echo", { text: `${turn} ${"x".repeat(600)}` }, `c${turn}`)) : say(text("done"))),
    usage: { input_tokens: 9_000, output_tokens: 1, money_micro_usd: 0 },
    contextTokens: 2_000,
  });
  const inner = modelOf(lossy)();
  const w = await world(t, {
    model: () => ({ ...inner, call: (request, options) => (agents.push(request.agent), inner.call(request, options)) }),
  });
  const limited = { ...file, agents: { a: { instructions: "x", context_tokens: 4_000 } } };
  assert.equal((await w.scalar(limited)).content, "done");
  assert.ok(
    agents.every((agent) => agent === "a"),
    "no summary was asked for",
  );
});
