import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "../../test/support/properties.ts";

import type { ModelRequest } from "../model-port.ts";
import { completeMessage, type Message, userMessage } from "../protocol/task/message.ts";
import type { PromptMessage } from "./language-model.ts";
import { ModelsConfig } from "./models-config.ts";
import { promptOf } from "./prompt.ts";
import { type ModelSetup, resolveModel } from "./resolve-model.ts";

const setup = { config: ModelsConfig.parse({}), env: {} };
const tool = { name: "t", description: "A tool.", parameters: { type: "object" } };

function request(said: readonly Message[], rest: Partial<ModelRequest> = {}): ModelRequest {
  const messages = said.map((message, index) => completeMessage(message, { id: `m${index}`, now: index }));
  return { model: "anthropic/claude-opus-5", agent: "a", system: "S", messages, tools: [tool], ...rest };
}

function promptFor(said: readonly Message[], rest: Partial<ModelRequest> = {}): PromptMessage[] {
  const asked = request(said, rest);
  return promptOf(asked, resolveModel(setup, asked.model)).call.prompt;
}

function calls(...ids: string[]): Message {
  const parts = ids.map((id) => ({
    part_type: "tool_call" as const,
    data: { tool_call_id: id, tool_name: "t", input: { id } },
  }));
  return { name: null, role: "assistant", parts };
}

function result(id: string, text = `r${id}`): Message {
  const data = { tool_call_id: id, tool_name: "t", parts: [{ part_type: "text" as const, data: text }] };
  return { name: null, role: "tool", parts: [{ part_type: "tool_result", data }] };
}

function said(text: string): Message {
  return { name: null, role: "assistant", parts: [{ part_type: "text", data: text }] };
}

function breakpoints(prompt: readonly PromptMessage[]): number[] {
  return prompt.flatMap((message, at) =>
    message.providerOptions?.["anthropic"]?.["cacheControl"] === undefined ? [] : [at],
  );
}

test("the results of a turn stand in one message, in the order of the calls", () => {
  const prompt = promptFor([
    userMessage("go"),
    calls("1", "2"),
    result("2"),
    result("1"),
    said("done"),
    userMessage("and?"),
  ]);
  assert.deepEqual(
    prompt.map(({ role }) => role),
    ["system", "user", "assistant", "tool", "assistant", "user"],
  );
  const [, , , results] = prompt;
  assert.ok(results?.role === "tool");
  assert.deepEqual(
    results.content.map((part) => (part.type === "tool-result" ? [part.toolCallId, part.output] : [])),
    [
      ["1", { type: "text", value: "r1" }],
      ["2", { type: "text", value: "r2" }],
    ],
  );
});

test("an Anthropic request ends its cache after the tools, the system and the last two turns, four places at most", () => {
  const talk = [userMessage("1"), calls("a"), result("a"), said("2"), userMessage("3"), said("4"), userMessage("5")];
  const asked = request(talk);
  const { call: sent } = promptOf(asked, resolveModel(setup, asked.model));
  assert.deepEqual(breakpoints(sent.prompt), [0, 5, 7]);
  const marked = sent.tools?.filter((one) => "providerOptions" in one && one.providerOptions !== undefined);
  assert.equal(marked?.length, 1);
  const { call: other } = promptOf({ ...asked, model: "openai/gpt-5" }, resolveModel(setup, "openai/gpt-5"));
  assert.deepEqual(breakpoints(other.prompt), []);
});

test("blank text, an empty message and a first word of the model's own do not make a request no provider takes", () => {
  const prompt = promptFor([said("hello"), { name: null, role: "user", parts: [] }, said("  "), userMessage(" ")]);
  assert.deepEqual(
    prompt.slice(1).map((message) => message.content),
    [
      [{ type: "text", text: "(the conversation so far)" }],
      [{ type: "text", text: "hello" }],
      [{ type: "text", text: "(empty)" }],
      [{ type: "text", text: "(empty)" }],
    ],
  );
});

test("pictures go as files, data as JSON, a message of the house as one of the user", () => {
  const picture = { type: "bytes" as const, bytes: "QUJD", mime_type: "image/png", name: null };
  const prompt = promptFor([
    {
      name: null,
      role: "user",
      parts: [
        { part_type: "image", data: picture },
        { part_type: "data", data: { a: 1 } },
      ],
    },
    { name: null, role: "developer", parts: [{ part_type: "text", data: "note" }] },
  ]);
  assert.deepEqual(prompt[1]?.content, [
    { type: "file", mediaType: "image/png", data: { type: "data", data: "QUJD" } },
    { type: "text", text: '{"a":1}' },
  ]);
  assert.equal(prompt[2]?.role, "user");
});

test("whatever the history, every call is answered exactly once right after it and nothing is empty", () => {
  const id = fc.constantFrom("1", "2", "3");
  const message = fc.oneof(
    fc.constantFrom("hi", " ").map(userMessage),
    fc.constantFrom("ok", "").map(said),
    fc.uniqueArray(id, { minLength: 1, maxLength: 3 }).map((ids) => calls(...ids)),
    id.map((one) => result(one)),
  );
  fc.assert(
    fc.property(fc.array(message, { maxLength: 12 }), (talk) => {
      const prompt = promptFor(talk).slice(1);
      assert.equal(prompt[0]?.role, "user");
      prompt.forEach((one, at) => {
        assert.ok(one.content.length > 0);
        const made =
          one.role === "assistant"
            ? one.content.flatMap((part) => (part.type === "tool-call" ? [part.toolCallId] : []))
            : [];
        const next = prompt[at + 1];
        const answered =
          next?.role === "tool"
            ? next.content.flatMap((part) => (part.type === "tool-result" ? [part.toolCallId] : []))
            : [];
        assert.deepEqual(answered, made);
      });
    }),
    { numRuns: 300 },
  );
});

test("with no tools offered no call and no result is left in its native form", () => {
  const prompt = promptFor([userMessage("go"), calls("1", "2"), result("1"), result("2"), userMessage("sum up")], {
    tools: [],
  });
  const text = JSON.stringify(prompt);
  assert.doesNotMatch(text, /tool-call|tool-result/);
  assert.match(text, /\[result of t\]\\nr2\\n\[end of t result\]/);
});

const local = {
  config: ModelsConfig.parse({
    providers: { local: { kind: "openai-compatible", base_url: "http://localhost/v1", key_env: null } },
  }),
  env: {},
};

function compatiblePrompt(said: readonly Message[], model: string): PromptMessage[] {
  return promptOf(request(said, { model }), resolveModel(local, model)).call.prompt.slice(1);
}

test("a compatible server gets messages of one role in a row as one, and Mistral's models a reply after results", () => {
  const talk = [
    userMessage("go"),
    userMessage("now"),
    calls("1"),
    result("1"),
    userMessage("and?"),
    userMessage("well?"),
  ];
  const prompt = compatiblePrompt(talk, "local/qwen");
  assert.deepEqual(
    prompt.map(({ role }) => role),
    ["user", "assistant", "tool", "user"],
  );
  assert.deepEqual(prompt[0]?.content, [{ type: "text", text: "go\n\nnow" }]);
  assert.deepEqual(
    compatiblePrompt(talk, "local/devstral-2").map(({ role }) => role),
    ["user", "assistant", "tool", "assistant", "user"],
  );
});

test("a picture in a result goes to a compatible server as a picture, not as text of its bytes", () => {
  const picture = { type: "bytes" as const, bytes: "QUJD", mime_type: "image/png", name: null };
  const parts = [
    { part_type: "text" as const, data: "the screen" },
    { part_type: "image" as const, data: picture },
    { part_type: "file" as const, data: { ...picture, mime_type: "application/zip" } },
  ];
  const shown: Message = {
    name: null,
    role: "tool",
    parts: [{ part_type: "tool_result", data: { tool_call_id: "1", tool_name: "t", parts } }],
  };
  const [, , results, pictures] = compatiblePrompt([userMessage("go"), calls("1"), shown], "local/qwen");
  assert.ok(results?.role === "tool" && pictures?.role === "user");
  assert.doesNotMatch(JSON.stringify(results), /QUJD/);
  assert.match(JSON.stringify(results), /the screen.*image\/png: see the next message.*application\/zip: this model/);
  assert.deepEqual(pictures.content[1], { type: "file", mediaType: "image/png", data: { type: "data", data: "QUJD" } });
});

test("OpenAI gets a cache key for each conversation, and OpenRouter is asked to cache for Claude models", () => {
  const optionsOf = (model: string, asked: ModelRequest): unknown =>
    promptOf({ ...asked, model }, resolveModel(setup, model)).call.providerOptions;
  const first = request([userMessage("go")]);
  const later = request([userMessage("go"), said("ok"), userMessage("on")]);
  const other = { ...first, agent: "b" };
  assert.deepEqual(optionsOf("openai/gpt-6", first), optionsOf("openai/gpt-6", later));
  assert.notDeepEqual(optionsOf("openai/gpt-6", first), optionsOf("openai/gpt-6", other));
  const cached = { openrouter: { cache_control: { type: "ephemeral" } } };
  assert.deepEqual(optionsOf("openrouter/anthropic/claude-opus-5", first), cached);
  assert.deepEqual(optionsOf("openrouter/qwen/qwen3-coder", first), {});
});

test("Anthropic itself is asked to pass on what its classifiers block, another server of its protocol is not", () => {
  const optionsOf = (config: ModelSetup, model: string): Readonly<Record<string, unknown>> =>
    promptOf({ ...request([userMessage("go")]), model }, resolveModel(config, model)).call.providerOptions?.[
      "anthropic"
    ] ?? {};
  assert.equal(optionsOf(setup, "anthropic/claude-opus-5-5")["fallbacks"], "default");
  assert.equal(optionsOf(setup, "anthropic/claude-haiku-4-5")["fallbacks"], undefined);
  const elsewhere = { ...setup, env: { ANTHROPIC_BASE_URL: "https://proxy.example" } };
  assert.equal(optionsOf(elsewhere, "anthropic/claude-opus-5-5")["fallbacks"], undefined);
});
