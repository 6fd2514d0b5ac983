import assert from "node:assert/strict";
import { test } from "node:test";

import { world } from "../../../test/support/agent-kit.ts";
import { solo } from "../../../test/support/recording-model.ts";
import { fakeClock } from "../../engine/fake-clock.ts";
import type { Model, ModelReply, ModelRequest } from "../../model-port.ts";
import { TuttiError } from "../../protocol/error.ts";
import type { Part } from "../../protocol/task/message.ts";

const file = solo([]);
const usage = { input_tokens: 1, output_tokens: 1, money_micro_usd: 0 };

function say(...parts: Part[]): ModelReply {
  return { message: { name: null, role: "assistant", parts }, usage, finish: "stop" };
}

const text = (data: string): Part => ({ part_type: "text", data });

function modelOf(reply: (turn: number) => ModelReply | Promise<ModelReply>): () => Model {
  let calls = 0;
  const model: Model = { estimate: () => usage, call: async () => reply(calls++) };
  return () => model;
}

test("a model call that failed without having happened is made again, twice at most", async (t) => {
  const tries: number[] = [];
  const flaky = modelOf((turn) => {
    tries.push(turn);
    if (turn < 2) throw new TuttiError("busy", "full", { retry: "safe" });
    return say(text("at last"));
  });
  const w = await world(t, { model: flaky });
  assert.equal((await w.scalar(file)).content, "at last");
  assert.deepEqual(tries, [0, 1, 2]);

  const down = await world(t, {
    model: modelOf(() => {
      throw new TuttiError("busy", "still full", { retry: "safe" });
    }),
  });
  const result = await down.scalar(file);
  assert.equal(result.status, "failed");
  assert.match((result.content as { message: string }).message, /still full/);
});

test("a model call that may have happened is not made again", async (t) => {
  let calls = 0;
  const w = await world(t, {
    model: modelOf(() => {
      calls += 1;
      throw new TuttiError("io", "cut off");
    }),
  });
  assert.equal((await w.scalar(file)).status, "failed");
  assert.equal(calls, 1);
});

test("a repeated call says so where its text is shown, and a placeholder keeps no marks of the replaced parts", async (t) => {
  const shown: string[] = [];
  const usage = { input_tokens: 1, output_tokens: 1, money_micro_usd: 0 };
  const marked = { parts_metadata: { 0: { save: true, developer: true } } };
  const w = await world(t, {
    onLive: ({ text: piece }) => shown.push(piece),
    model: () => ({
      estimate: () => usage,
      async call({ messages }, { onText, onRetry }) {
        onText?.("half a ");
        onRetry?.({ reason: "the stream broke off", waitMs: 4_200, next: 2, most: 3 });
        const first = messages.length === 1;
        const said = first ? '```tool\n{"name":"echo","args":{"text":"x"}}\n```' : "done";
        const message = { role: "assistant" as const, name: null, parts: [text(said)], ...(first ? marked : {}) };
        return { message, usage, finish: "stop" as const };
      },
    }),
  });
  const result = await w.scalar(file);
  assert.equal(result.content, "done");
  assert.match(shown.join(""), /half a the stream broke off; trying again in about 4 s \(2 of 3\)/);
  assert.ok(w.messages(result.task_id).every((message) => message.parts_metadata === undefined));
});

test("replies and tool results have the time of the engine's clock", async (t) => {
  const clock = fakeClock(1_000);
  const w = await world(t, { clock });
  const rules = [{ turn: 0, call: [{ tool: "echo", args: { text: "x" } }] }, { say: "done" }];
  const { task_id } = await w.scalar(solo(rules));
  assert.deepEqual(
    w.messages(task_id).map(({ role, created_at }) => [role, created_at]),
    [
      ["assistant", 1_000],
      ["tool", 1_000],
      ["assistant", 1_000],
    ],
  );
});

test("a cut reply is asked for once more with the model's own limit, and only then is the model told to write less", async (t) => {
  const asked: (number | undefined)[] = [];
  const facts = { format: "native" as const, contextTokens: null, maxOutputTokens: 100, mostOutputTokens: 900 };
  const limits = (needed: number) => (): Model => ({
    estimate: () => usage,
    facts: () => facts,
    async call({ maxOutputTokens }) {
      asked.push(maxOutputTokens);
      return (maxOutputTokens ?? 100) < needed ? { ...say(text("cut o")), finish: "length" } : say(text("whole"));
    },
  });
  const w = await world(t, { model: limits(500) });
  const result = await w.scalar(file);
  assert.equal(result.content, "whole");
  assert.deepEqual(asked, [undefined, 900]);
  assert.ok(!JSON.stringify(w.messages(result.task_id)).includes("cut o"), "what was cut is not in the conversation");

  asked.length = 0;
  const never = await world(t, { model: limits(1_000) });
  const failed = await never.scalar(file);
  assert.match((failed.content as { message: string }).message, /same error 3 times in a row \(cut_reply\)/);
  assert.deepEqual(asked, [undefined, 900, 900, 900]);
});

test("the request says whether the agent waits: it calls other agents, or one of its calls took long", async (t) => {
  const waits: (boolean | undefined)[] = [];
  const clock = fakeClock(1_000);
  const model: Model = {
    estimate: () => usage,
    async call(request) {
      waits.push(request.waits);
      return request.messages.length > 1
        ? say(text("done"))
        : say({ part_type: "tool_call", data: { tool_call_id: "c", tool_name: "sleep", input: { ms: 300_000 } } });
    },
  };
  const w = await world(t, { model: () => model, clock });
  const task = w.scalar(file);
  for (let rounds = 0; waits.length < 2 && rounds < 2_000; rounds += 1) {
    await new Promise((resolve) => setTimeout(resolve, 5));
    clock.advance(60_000);
  }
  await task;
  assert.deepEqual(waits, [undefined, true]);
  const calling = async (request: ModelRequest): Promise<ModelReply> => {
    waits.push(request.waits);
    return say(text("ok"));
  };
  const other = await world(t, { model: () => ({ ...model, call: calling }) });
  await other.scalar(solo([], { sub_agents: ["b"] }));
  assert.equal(waits.at(-1), true);
});
