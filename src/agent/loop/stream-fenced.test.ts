// A reply in the fenced format on the live channels: what people see while a model writes text and calls.

import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "../../../test/support/properties.ts";

import { recorded, solo } from "../../../test/support/recording-model.ts";
import { world } from "../../../test/support/agent-kit.ts";
import type { Model } from "../../model-port.ts";
import { renderToolCall } from "../../protocol/toolcalls/render-tool-call.ts";
import { streamFenced } from "./stream-fenced.ts";

const tools = new Set(["echo", "write"]);

/** The pieces of a text that is cut at these positions. */
function cutAt(text: string, cuts: readonly number[]): string[] {
  const ends = [...cuts.map((cut) => cut % (text.length + 1)), text.length].toSorted((a, b) => a - b);
  return ends.map((end, index) => text.slice(ends[index - 1] ?? 0, end));
}

/** What is shown of the reply, with consecutive pieces on one channel put together. */
function shownOf(pieces: readonly string[]): [channel: string, text: string][] {
  const shown: [string, string][] = [];
  const stream = streamFenced({ toolNames: tools, profile: "tolerant" }, (channel, text) => {
    const last = shown.at(-1);
    if (last?.[0] === channel) last[1] += text;
    else shown.push([channel, text]);
  });
  for (const piece of pieces) stream.push(piece);
  stream.end();
  return shown;
}

test("a call shows its name first, then its arguments as they are written, and never its fences", () => {
  const shown: string[] = [];
  const stream = streamFenced({ toolNames: tools, profile: "tolerant" }, (channel, text) =>
    shown.push(`${channel}: ${text}`),
  );
  stream.push("I write it.\n\n```tool\n{");
  assert.deepEqual(shown.splice(0), ["text: I write it.\n\n"]);
  stream.push('"name": "write", "args": {"path": "a');
  assert.deepEqual(shown.splice(0), ["tool: write", 'tool: {"path": "a']);
  stream.push('.txt"}}\n');
  assert.deepEqual(shown.splice(0), ['tool: .txt"}']);
  stream.push("```\nDone.");
  assert.deepEqual(shown.splice(0), ["text: Done."]);
  stream.end();
  assert.deepEqual(shown, []);
});

test("what is shown does not depend on where the reply is cut", () => {
  const call = fc.record({ name: fc.constantFrom("echo", "write"), args: fc.dictionary(fc.string(), fc.string()) });
  const part = fc.oneof(
    fc.constantFrom("Some words.\n", "`code` first\n", "\n", "<think>\nhm\n</think>\n", "```md\nquoted\n```\n"),
    call.map(({ name, args }) => `${renderToolCall(name, args)}\n`),
  );
  fc.assert(
    fc.property(fc.array(part, { maxLength: 6 }), fc.array(fc.nat(), { maxLength: 20 }), (parts, cuts) => {
      const reply = parts.join("");
      assert.deepEqual(shownOf(cutAt(reply, cuts)), shownOf([reply]));
    }),
    { numRuns: 500 },
  );
});

test("a call that is only known when its block is complete is shown then, with its arguments", () => {
  assert.deepEqual(shownOf(['```tool\n{"args":{"text":"x"},"name":"echo"}\n```\n']), [["tool", 'echo{"text":"x"}']]);
  assert.deepEqual(shownOf(['```json\n{"name":"echo","args":{"text":"x"}}\n```\n']), [["tool", 'echo{"text":"x"}']]);
  assert.deepEqual(shownOf(['```tool\n{"name":"echo"}\n{"name":"write"}\n```\n']), [["tool", "echo{}write{}"]]);
});

test("a call in a dialect is shown on the channel of tools and never as text", () => {
  const call = '<tool_call>\n{"name": "echo", "arguments": {"text": "x"}}\n</tool_call>';
  for (const size of [1, 4, 100]) {
    const reply = `I look.\n${call}`;
    const pieces = Array.from({ length: Math.ceil(reply.length / size) }, (_, at) =>
      reply.slice(at * size, (at + 1) * size),
    );
    assert.deepEqual(shownOf(pieces), [
      ["text", "I look.\n"],
      ["tool", 'echo{"text": "x"}'],
    ]);
  }
  assert.deepEqual(shownOf(['<|python_tag|>{"name": "echo", "parameters": {}}']), [["tool", "echo{}"]]);
});

test("a block without a call, and data in a json fence, are shown as the text they are", () => {
  for (const block of ["```tool\nnot json\n```\n", '```json\n{"port":80}\n```\n', '```tool\n{"name"']) {
    assert.deepEqual(shownOf([`Look:\n${block}`]), [["text", `Look:\n${block}`]]);
  }
});

/** A model that streams each reply in pieces of this many characters. */
function streaming(replies: readonly string[], size: number): Model {
  const usage = { input_tokens: 1, output_tokens: 1, money_micro_usd: 0 };
  return {
    estimate: () => usage,
    async call({ messages }, { onText, onReasoning, onRetry }) {
      const reply = replies[messages.filter(({ role }) => role === "assistant").length] ?? "done";
      onReasoning?.("thinking");
      onText?.("```tool\n{");
      onRetry?.({ reason: "the stream broke off", waitMs: 4_200, next: 2, most: 3 });
      for (let at = 0; at < reply.length; at += size) onText?.(reply.slice(at, at + size));
      const parts = [{ part_type: "text" as const, data: reply }];
      return { message: { role: "assistant", name: null, parts }, usage, finish: "stop" };
    },
  };
}

for (const size of [1, 5, 1000]) {
  test(`a loop in the fenced format shows calls on the channel of tools, in pieces of ${size} characters`, async (t) => {
    const shown: Record<string, string> = {};
    const reply = `Let me see.\n\n${renderToolCall("echo", { text: "a\n```b" })}`;
    const w = await world(t, {
      model: () => streaming([reply], size),
      onLive: ({ channel, text }) => (shown[channel] = (shown[channel] ?? "") + text),
    });
    const result = await w.scalar(solo([], { format: "fenced" }));
    assert.equal(result.content, "done");
    assert.deepEqual(w.toolResults(result.task_id), ["a\n```b"]);
    const again = "the stream broke off; trying again in about 4 s (2 of 3)";
    assert.deepEqual(shown, {
      reasoning: "thinkingthinking",
      notice: `${again}${again}`,
      text: "Let me see.\n\ndone",
      tool: 'echo{"text":"a\\n```b"}',
    });
  });
}

test("in the native format text is shown as it comes, fences and all", async (t) => {
  let shown = "";
  const w = await world(t, {
    model: recorded().model,
    onLive: ({ channel, text }) => (shown += channel === "text" ? text : ""),
  });
  await w.scalar(solo([{ say: "see ```md" }], { format: "native" }));
  assert.equal(shown, "see ```md");
});
