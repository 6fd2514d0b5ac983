// What providers refuse: each refusal is read as what it is, says what to do, and where possible the request is changed.

import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";

import { hurried, idle, model, request, wires } from "../../test/support/model-server-models.ts";
import { refusalOf, type Rules, signed } from "../../test/support/model-server-rules.ts";
import { modelServer, type Turn } from "../../test/support/model-server.ts";
import { framesOf, type ScriptedReply, type Wire } from "../../test/support/model-server-wires.ts";
import { systemClock } from "../engine/clock.ts";
import { toTuttiError, TuttiError } from "../protocol/error.ts";
import { models } from "./model-registry.ts";
import { rehearsalModel } from "./rehearsal/rehearsal-model.ts";
import { type Message, messageText, userMessage } from "../protocol/task/message.ts";

const call = { id: "call_1", name: "weather", args: '{"city":"Oslo"}' };

async function thrownBy(t: TestContext, wire: Wire, turn: Turn): Promise<{ error: TuttiError; asked: number }> {
  const server = await modelServer(t, wire, [turn]);
  try {
    await model(wire, server, { clock: hurried }).call(request(), { signal: idle });
  } catch (thrown) {
    assert.ok(thrown instanceof TuttiError, String(thrown));
    return { error: thrown, asked: server.received.length };
  }
  throw new assert.AssertionError({ message: "the call succeeded" });
}

const error = (message: string, rest: object = {}): object => ({ error: { message, code: null, ...rest } });

test("402, 408, a server without tools and a request that is too large say what to do", async (t) => {
  const cases: readonly (readonly [Turn, code: string, RegExp, reason?: string])[] = [
    [{ status: 402, body: error("Insufficient Balance") }, "refused", /no credit left; top it up/, "no_credit"],
    [
      { status: 402, body: error("You requested up to 64000 tokens, but can only afford 4000.") },
      "refused",
      /lower max_output_tokens/,
      "no_credit",
    ],
    [
      { status: 404, body: error("No endpoints found that support tool use.") },
      "refused",
      /"format": "fenced"/,
      "no_tools",
    ],
    [
      { status: 400, body: error("registry.ollama.ai/library/gemma3 does not support tools") },
      "refused",
      /"format": "fenced"/,
      "no_tools",
    ],
    [
      {
        status: 400,
        body: error('"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set'),
      },
      "refused",
      /"format": "fenced"/,
      "no_tools",
    ],
    [{ status: 413, body: error("Request Entity Too Large") }, "too_large", /fewer or smaller pictures/],
    [
      {
        status: 429,
        body: error("Request too large for gpt-4o on tokens per min (TPM): Limit 30000, Requested 41234.", {
          type: "tokens",
          code: "rate_limit_exceeded",
        }),
      },
      "too_large",
      /shorten the conversation/,
    ],
  ];
  for (const [turn, code, says, reason] of cases) {
    const { error: thrown, asked } = await thrownBy(t, "openai-compatible", turn);
    assert.equal(thrown.code, code, thrown.message);
    assert.match(thrown.message, says);
    assert.equal(thrown.details?.["reason"], reason);
    assert.equal(asked, 1, thrown.message);
  }
  const slow = await thrownBy(t, "openai-compatible", { status: 408, body: error("Request Timeout") });
  assert.deepEqual([slow.error.code, slow.asked], ["busy", 4]);
});

test("a request without tools is taken by a server that refuses tools", async (t) => {
  const wire = "openai-compatible";
  const server = await modelServer(t, wire, (seen) => {
    return refusalOf(wire, seen, { noTools: true }) ?? { reply: { text: ["ok"] } };
  });
  const here = model(wire, server);
  await assert.rejects(here.call(request(), { signal: idle }), { code: "refused" });
  assert.equal(messageText((await here.call(request({ format: "fenced" }), { signal: idle })).message), "ok");
});

test("a request that is too long is noticed on every wire, before and in the middle of a stream", async (t) => {
  for (const wire of wires) {
    const server = await modelServer(
      t,
      wire,
      (seen) => refusalOf(wire, seen, { contextTokens: 1 }) ?? { silent: true },
    );
    await assert.rejects(model(wire, server).call(request(), { signal: idle }), { code: "too_large" }, wire);
    assert.equal(server.received.length, 1, wire);
  }
  const failed = {
    type: "response.failed",
    sequence_number: 3,
    response: {
      error: { code: "context_length_exceeded", message: "Your input exceeds the context window of this model." },
      incomplete_details: null,
      service_tier: null,
    },
  };
  const begun = framesOf("openai", { text: ["a"] })
    .slice(0, 2)
    .join("");
  const openai = `${begun}event: response.failed\ndata: ${JSON.stringify(failed)}\n\n`;
  const compatible = `data: ${JSON.stringify(error("Context size has been exceeded.", { code: 500, type: "server_error" }))}\n\n`;
  for (const [wire, text] of [
    ["openai", openai],
    ["openai-compatible", compatible],
  ] as const) {
    const { error: thrown, asked } = await thrownBy(t, wire, { text });
    assert.deepEqual([thrown.code, asked], ["too_large", 1], `${wire}: ${thrown.message}`);
  }
});

test("when only the longest reply does not fit beside the input, a shorter one is asked for", async (t) => {
  const words =
    "'max_tokens' or 'max_completion_tokens' is too large: 4096. This model's maximum context length is 4096 tokens and your request has 2104 input tokens (4096 > 4096 - 2104).";
  const server = await modelServer(t, "openai-compatible", [
    { status: 400, body: error(words) },
    { reply: { text: ["ok"] } },
  ]);
  const reply = await model("openai-compatible", server).call(request(), { signal: idle });
  assert.equal(messageText(reply.message), "ok");
  assert.deepEqual(
    server.received.map(({ body }) => body["max_tokens"]),
    [16_384, 4096 - 2104 - 64],
  );
});

/** A call with reasoning, its result, and the next request, to a server with these rules. */
async function twoTurns(t: TestContext, modelId: string, rules: Rules, settings = {}) {
  const wire = "openai-compatible";
  const refused: Turn[] = [];
  const replies: ScriptedReply[] = [{ reasoning: "Hm.", calls: [call] }, { text: ["Rain."] }, { text: ["Still."] }];
  let served = 0;
  const server = await modelServer(t, wire, (seen) => {
    const refusal = refusalOf(wire, seen, rules);
    if (refusal !== undefined) refused.push(refusal);
    else served += 1;
    return refusal ?? { reply: signed(wire, seen, replies[served - 1] ?? { text: ["again"] }) };
  });
  const here = model(wire, server, { settings });
  const named = { model: `here/${modelId}` };
  const first = await here.call(request(named), { signal: idle });
  const result: Message = {
    name: null,
    role: "tool",
    parts: [{ part_type: "tool_result", data: { tool_call_id: "call_1", tool_name: "weather", parts: [] } }],
  };
  const talk = [userMessage("hello"), first.message, result];
  const second = await here.call(request(named, talk), { signal: idle });
  await here.call(request(named, talk), { signal: idle });
  return {
    text: messageText(second.message),
    refused: refused.length,
    last: JSON.stringify(server.received.at(-1)?.body),
  };
}

test("reasoning_content is sent where the server wants it and nowhere else; a server that says so is believed", async (t) => {
  const known = await twoTurns(t, "deepseek-v4", { reasoningContent: "required" });
  assert.deepEqual([known.text, known.refused], ["Rain.", 0]);
  assert.match(known.last, /"reasoning_content":"Hm\."/);
  const strict = await twoTurns(t, "gpt-oss", { reasoningContent: "refused" });
  assert.deepEqual([strict.text, strict.refused], ["Rain.", 0]);
  // Refused once, then it is known for this model.
  const unknown = await twoTurns(t, "some-model", { reasoningContent: "required" });
  assert.deepEqual([unknown.text, unknown.refused], ["Rain.", 1]);
  const wrong = await twoTurns(t, "kimi-on-a-strict-server", { reasoningContent: "refused" });
  assert.deepEqual([wrong.text, wrong.refused], ["Rain.", 1]);
  const forced = await twoTurns(t, "some-model", {}, { send_reasoning: "always" });
  assert.match(forced.last, /"reasoning_content":"Hm\."/);
  await assert.rejects(
    twoTurns(t, "deepseek-v4", { reasoningContent: "required" }, { send_reasoning: "never" }),
    /must be passed back/,
  );
});

test("Anthropic is asked to drop thinking that it does not accept, only with models that know the setting", async (t) => {
  const server = await modelServer(t, "anthropic", (seen) => {
    return refusalOf("anthropic", seen, {}) ?? { reply: { text: ["ok"] } };
  });
  const here = model("anthropic", server);
  const sent: unknown[] = [];
  for (const id of [
    "claude-opus-5-5",
    "claude-fable-5-1",
    "claude-haiku-6",
    "claude-opus-5",
    "claude-sonnet-4-5-20250929",
  ]) {
    await here.call(request({ model: `here/${id}` }), { signal: idle });
    sent.push(server.received.at(-1)?.body["thinking"]);
  }
  const drop = { block_binding: { prefix_mismatch_behavior: "drop_block" } };
  const shown = { type: "adaptive", display: "summarized" };
  const both = { ...shown, ...drop };
  assert.deepEqual(sent, [both, both, both, shown, undefined]);
});

test("thinking is sent back only after exactly what it was written after", async (t) => {
  const server = await modelServer(t, "anthropic", (seen) => {
    const reply: ScriptedReply = { reasoning: "Hm.", text: ["Said."] };
    return refusalOf("anthropic", seen, {}) ?? { reply: signed("anthropic", seen, reply) };
  });
  const here = model("anthropic", server);
  const { message } = await here.call(request(), { signal: idle });
  const talk = [userMessage("hello"), message, userMessage("and?")];
  const next = await here.call(request({}, talk), { signal: idle });
  assert.match(JSON.stringify(server.received.at(-1)?.body), /"signature"/);
  const longer = [...talk, next.message, userMessage("go on")];
  for (const [changed, said] of [
    [{ system: "Be long." }, longer],
    [{ tools: [] }, longer],
    [{}, [userMessage("hello!"), ...longer.slice(1)]],
    [{}, [userMessage("hello"), ...longer.slice(2)]],
  ] as const) {
    await here.call(request(changed, said), { signal: idle });
    assert.doesNotMatch(JSON.stringify(server.received.at(-1)?.body), /"signature"/);
  }
  // A change in the middle leaves the thinking before it.
  await here.call(request({}, [...talk.slice(0, 2), userMessage("or?"), next.message, userMessage("go on")]), {
    signal: idle,
  });
  assert.equal(JSON.stringify(server.received.at(-1)?.body).split('"signature"').length, 2);
});

test("reasoning that a provider refuses for a reason of its own is left out, and the request is sent once more", async (t) => {
  const words = {
    anthropic: "messages.1.content.0: Invalid `signature` in `thinking` block",
    openai:
      "The encrypted content gAAA could not be verified. Reason: Encrypted content organization_id did not match.",
  };
  for (const wire of ["anthropic", "openai"] as const) {
    const server = await modelServer(t, wire, [
      { reply: { reasoning: "Hm.", text: ["Said."] } },
      { status: 400, body: error(words[wire], { type: "invalid_request_error" }) },
      { reply: { text: ["ok"] } },
    ]);
    const here = model(wire, server);
    const { message } = await here.call(request(), { signal: idle });
    const reply = await here.call(request({}, [userMessage("hello"), message, userMessage("and?")]), { signal: idle });
    assert.equal(messageText(reply.message), "ok");
    const state = /c2lnbmVk|ZW5j/;
    assert.match(JSON.stringify(server.received[1]?.body), state);
    assert.doesNotMatch(JSON.stringify(server.received[2]?.body), state);
  }
});

test("a try that was lost is in the usage but not in the tokens of the context", async (t) => {
  const reply: ScriptedReply = { text: ["some words"], usage: { input: 100, output: 10 } };
  const server = await modelServer(t, "anthropic", [{ reply, bytes: 620, end: "broken" }, { reply }]);
  const got = await model("anthropic", server, { clock: hurried }).call(request(), { signal: idle });
  assert.equal(server.received.length, 2);
  assert.ok(got.usage.input_tokens > 100);
  assert.equal(got.contextTokens, 110);
});

test("a key that is not accepted is named by the place it came from, and what is not set is not named", async (t) => {
  const server = await modelServer(t, "openai-compatible", [{ status: 401 }]);
  const here = (key_env: string | null): object => ({
    kind: "openai-compatible",
    base_url: `${server.origin}/v1`,
    key_env,
  });
  const cases: readonly (readonly [object, Record<string, string>, RegExp])[] = [
    [here("HERE_KEY"), {}, /it used the key that is kept for here; keep another with `tutti models login here`/],
    [here("HERE_KEY"), { HERE_KEY: "key-1" }, /check HERE_KEY/],
    [here(null), {}, /set key_env in the config/],
  ];
  for (const [provider, env, wanted] of cases) {
    const config = { providers: { here: provider }, aliases: { quick: "here/m" } };
    const all = models({ config, env, storedKey: () => "key-kept", clock: systemClock });
    const called = all.withRehearsal(rehearsalModel({})).call(request(), { signal: idle });
    await assert.rejects(called, (thrown) => {
      const { message } = toTuttiError(thrown);
      assert.match(message, wanted);
      assert.equal(/HERE_KEY/.test(message), env["HERE_KEY"] !== undefined, message);
      return true;
    });
    const probed = await all.list({ probe: { timeoutMs: 60_000, signal: idle } });
    assert.match(probed.find(({ provider: name }) => name === "here")?.probe?.problem ?? "", wanted);
  }
});
