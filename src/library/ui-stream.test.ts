// `toResponse` is read by the reader of the AI SDK's own UI hooks.
import assert from "node:assert/strict";
import { test } from "node:test";

import { DefaultChatTransport, readUIMessageStream, type UIMessage, type UIMessageChunk } from "ai";
import { z } from "zod";

import { until } from "../../test/support/wait-until.ts";
import { agent, openTutti, type Run, tool } from "../index.ts";
import { call, fails, final, say, script } from "./testing.ts";

const weather = tool({
  name: "weather",
  description: "Tells the weather.",
  input: z.object({ city: z.string() }),
  effects: ["network"],
  run: ({ city }) => {
    if (city === "Atlantis") throw new Error("no such city");
    return { city, degrees: -3 };
  },
});
const pay = tool({
  name: "pay",
  description: "Pays.",
  input: z.object({}),
  effects: ["network"],
  approval: "ask",
  run: () => "paid",
});
const poet = agent({
  name: "poet",
  instructions: "x",
  tools: [weather],
  model: script(
    [say("Let me look. "), call("weather", { city: "Oslo" }), call("weather", { city: "Atlantis" })],
    "It is cold.",
  ),
});
const guide = agent({
  name: "guide",
  instructions: "x",
  model: script(final({ advice: "a coat" })),
  output: z.object({ advice: z.string() }),
});
const buyer = agent({ name: "buyer", instructions: "x", tools: [pay], model: script(call("pay"), "done") });
const broken = agent({ name: "broken", instructions: "x", model: script(fails("refused", "the key is wrong")) });
const lead = agent({
  name: "lead",
  instructions: "x",
  subAgents: [poet],
  model: script({ delegate: [{ agent: "poet", prompt: "go" }] }, "The poet is done."),
});

/** Sends the response through the transport of `useChat`, which checks every chunk, and puts the message together. */
async function read(response: Response, onChunk: (chunk: UIMessageChunk) => void = () => undefined) {
  const transport = new DefaultChatTransport<UIMessage>({ api: "http://127.0.0.1/chat", fetch: async () => response });
  const chunks = await transport.sendMessages({
    trigger: "submit-message",
    chatId: "c",
    messageId: undefined,
    messages: [],
    abortSignal: undefined,
  });
  const watched = chunks.pipeThrough(
    new TransformStream<UIMessageChunk, UIMessageChunk>({
      transform(chunk, controller) {
        onChunk(chunk);
        controller.enqueue(chunk);
      },
    }),
  );
  const errors: string[] = [];
  let message: UIMessage | undefined;
  const onError = (error: unknown): void => void errors.push(error instanceof Error ? error.message : String(error));
  for await (const each of readUIMessageStream({ stream: watched, onError })) message = each;
  return { message, errors };
}

async function openAll(t: { after(fn: () => unknown): void }) {
  const tutti = await openTutti({ memory: true, agents: [poet, guide, buyer, broken, lead] });
  t.after(() => tutti.close());
  return tutti;
}

function shapes(message: UIMessage | undefined): unknown[] {
  return (message?.parts ?? []).map((part) => {
    if (part.type === "text") return part.text;
    if (part.type === "dynamic-tool") return [part.toolName, part.state, part.errorText ?? part.output];
    return part.type;
  });
}

test("texts and calls with their results become the parts of one message, step by step", async (t) => {
  const tutti = await openAll(t);
  const run = await tutti.run(poet, "go");
  const { message, errors } = await read(run.toResponse());
  assert.deepEqual(errors, []);
  assert.equal(message?.id, run.task);
  const parts = shapes(message);
  assert.match(String((parts[3] as unknown[])[2]), /no such city/);
  assert.deepEqual(parts.toSpliced(3, 1), [
    "step-start",
    "Let me look. ",
    ["weather", "output-available", { city: "Oslo", degrees: -3 }],
    "step-start",
    "It is cold.",
  ]);
  // A run that has ended can be read again.
  assert.deepEqual(shapes((await read(run.toResponse())).message), parts);
});

test("a structured result is a data part, a failure is the stream's error, and a cancel ends it", async (t) => {
  const tutti = await openAll(t);
  const { message } = await read((await tutti.run(guide, "go")).toResponse());
  assert.deepEqual(message?.parts, [{ type: "data-result", data: { advice: "a coat" } }]);
  const failed = await read((await tutti.run(broken, "go")).toResponse());
  assert.match(failed.errors.join(), /the key is wrong/);
});

test("what other agents say below is not part of the message", async (t) => {
  const tutti = await openAll(t);
  const { message } = await read((await tutti.run(lead, "go")).toResponse());
  assert.deepEqual(
    shapes(message).filter((shape) => typeof shape === "string"),
    ["step-start", "step-start", "The poet is done."],
  );
});

test("an approval is shown at its call, and the run goes on when it was answered", async (t) => {
  const tutti = await openAll(t);
  const run: Run<string, readonly [typeof pay]> = await tutti.run(buyer, "go");
  const seen: string[] = [];
  const reading = read(run.toResponse(), ({ type }) => seen.push(type));
  const ask = await until(async () => (await run.asks())[0]);
  await until(() => seen.includes("tool-approval-request"));
  await ask.approve();
  const { message, errors } = await reading;
  assert.deepEqual(errors, []);
  assert.deepEqual(shapes(message).at(1), ["pay", "output-available", "paid"]);
});

test("the run goes on when the reader leaves, and the headers of the caller are kept", async (t) => {
  const tutti = await openAll(t);
  const run = await tutti.run(buyer, "go");
  const response = run.toResponse({ headers: { "x-own": "1" } });
  assert.deepEqual([response.headers.get("x-own"), response.headers.get("x-vercel-ai-ui-message-stream")], ["1", "v1"]);
  await response.body?.cancel();
  const ask = await until(async () => (await run.asks())[0]);
  await ask.approve();
  assert.equal(await run.result(), "done");
});
