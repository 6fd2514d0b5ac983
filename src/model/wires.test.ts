// Every provider's real wire against a local server: whole replies, what is sent, every fault.

import assert from "node:assert/strict";
import { test } from "node:test";

import { TuttiError } from "../protocol/error.ts";
import { type Message, messageText, userMessage } from "../protocol/task/message.ts";
import { hurried, idle, model, request, wires } from "../../test/support/model-server-models.ts";
import { modelServer, type Turn } from "../../test/support/model-server.ts";
import { framesOf, type ScriptedReply, type Wire } from "../../test/support/model-server-wires.ts";

const usage = { input: 100, output: 10, cached: 40 };
const call = { id: "call_1", name: "weather", args: '{"city":"Göteborg"}' };
const full: ScriptedReply = { reasoning: "Hm. ", text: ["Let me ", "look: ☔."], calls: [call], usage };

function codeOf(code: string, pattern: RegExp, retry?: string): (thrown: unknown) => boolean {
  return (thrown) => {
    assert.ok(thrown instanceof TuttiError, String(thrown));
    assert.equal(thrown.code, code, thrown.message);
    assert.match(thrown.message, pattern);
    if (retry !== undefined) assert.equal(thrown.retry, retry);
    return true;
  };
}

/** Answers with the turns in order and says how often it was asked. */
async function asked(context: Parameters<typeof modelServer>[0], wire: Wire, turns: readonly Turn[], settings = {}) {
  const server = await modelServer(context, wire, turns);
  return { server, here: model(wire, server, { settings }) };
}

/** The same, with pauses a hundred times shorter. */
async function askedInHurry(context: Parameters<typeof modelServer>[0], wire: Wire, turns: readonly Turn[]) {
  const server = await modelServer(context, wire, turns);
  return { server, here: model(wire, server, { clock: hurried }) };
}

for (const wire of wires) {
  test(`${wire}: a reply streams in and is returned whole, with its calls, usage and price`, async (context) => {
    const { here, server } = await asked(context, wire, [{ reply: full }]);
    const heard = { text: "", reasoning: "", tool: "" };
    const reply = await here.call(request(), {
      signal: idle,
      onText: (text) => (heard.text += text),
      onReasoning: (text) => (heard.reasoning += text),
      onTool: (text) => (heard.tool += text),
    });
    const shown = reply.message.parts.filter((part) => part.part_type !== "data");
    assert.deepEqual(shown, [
      { part_type: "text", data: "Let me look: ☔." },
      { part_type: "tool_call", data: { tool_call_id: "call_1", tool_name: "weather", input: { city: "Göteborg" } } },
    ]);
    assert.equal(reply.finish, "tools");
    assert.equal(reply.malformed, undefined);
    // 60 tokens at 1 USD, 40 cached at 0.1, 10 out at 10 USD per million.
    assert.deepEqual(reply.usage, { input_tokens: 100, output_tokens: 10, money_micro_usd: 60 + 4 + 100 });
    assert.deepEqual(reply.cached, { read: 40, written: 0 });
    assert.deepEqual([heard.text, heard.reasoning], ["Let me look: ☔.", "Hm. "]);
    assert.match(heard.tool, /^weather/);
    assert.equal(server.received.length, 1);
    assert.match(JSON.stringify(server.received[0]?.headers), /key-1234567890/);
    assert.doesNotMatch(JSON.stringify(reply), /key-1234567890/);
  });

  test(`${wire}: the next request carries the call, its result and what the provider wants back`, async (context) => {
    const { here, server } = await asked(context, wire, [{ reply: full }, { reply: { text: ["Rain."] } }]);
    const first = await here.call(request(), { signal: idle });
    const result: Message = {
      name: null,
      role: "tool",
      parts: [
        {
          part_type: "tool_result",
          data: { tool_call_id: "call_1", tool_name: "weather", parts: [{ part_type: "data", data: { rain: true } }] },
        },
      ],
    };
    const second = await here.call(request({}, [userMessage("hello"), first.message, result]), { signal: idle });
    assert.equal(messageText(second.message), "Rain.");
    assert.equal(second.finish, "stop");
    const body = JSON.stringify(server.received[1]?.body);
    assert.match(body, /G\u00f6teborg/);
    assert.match(body, /rain/);
    assert.doesNotMatch(body, /provider_state/);
    const wanted = {
      anthropic: /"signature":"c2lnbmVk"/,
      openai: /"encrypted_content":"ZW5j"/,
      google: /"thoughtSignature":"c2ln"/,
    };
    if (wire !== "openai-compatible") assert.match(body, wanted[wire]);
    if (wire === "openai") assert.equal(server.received[1]?.body["store"], false);
  });

  test(`${wire}: another model gets the conversation without what only the first understands`, async (context) => {
    const { here, server } = await asked(context, wire, [{ reply: full }, { reply: { text: ["ok"] } }]);
    const first = await here.call(request(), { signal: idle });
    await here.call(request({ model: "here/other" }, [userMessage("hello"), first.message, userMessage("and?")]), {
      signal: idle,
    });
    const body = JSON.stringify(server.received[1]?.body);
    assert.doesNotMatch(body, /c2lnbmVk|ZW5j|"c2ln"|provider_state/);
    assert.match(body, /the outcome of this call is unknown/);
  });

  test(`${wire}: with the fenced format no tools are offered and earlier calls are text`, async (context) => {
    const { here, server } = await asked(context, wire, [{ reply: full }, { reply: { text: ["ok"] } }]);
    const first = await here.call(request(), { signal: idle });
    await here.call(request({ format: "fenced" }, [userMessage("hello"), first.message, userMessage("and?")]), {
      signal: idle,
    });
    const body = server.received[1]?.body;
    assert.equal(body?.["tools"], undefined);
    assert.match(JSON.stringify(body), /```tool\\n\{\\"name\\":\\"weather\\"/);
  });

  test(`${wire}: cut at the length limit is a finish, and the call it was cut in is not run`, async (context) => {
    const cut = { ...call, args: wire === "google" ? "{}" : '{"city":"Gö' };
    const { here } = await asked(context, wire, [
      { reply: { text: ["Long"], finish: "length" } },
      { reply: { text: ["Look:"], calls: [{ ...call, id: "call_0" }, cut], finish: "length" } },
      { reply: { text: [], finish: "length" } },
    ]);
    assert.equal((await here.call(request(), { signal: idle })).finish, "length");
    const reply = await here.call(request(), { signal: idle });
    assert.equal(reply.finish, "length");
    const calls = reply.message.parts.flatMap((part) =>
      part.part_type === "tool_call" ? [part.data.tool_call_id] : [],
    );
    assert.deepEqual(calls, ["call_0"]);
    assert.equal(reply.malformed?.length, 1);
    assert.match(reply.malformed?.[0]?.message ?? "", /cut at its length/);
    const nothing = await here.call(request(), { signal: idle });
    assert.deepEqual([nothing.finish, nothing.message.parts], ["length", []]);
  });

  test(`${wire}: a refusal is a finish of its own`, async (context) => {
    const { here, server } = await asked(context, wire, [{ reply: { text: ["I will not."], finish: "refusal" } }]);
    const reply = await here.call(request(), { signal: idle });
    assert.equal(reply.finish, "refusal");
    assert.equal(messageText(reply.message), "I will not.");
    assert.equal(server.received.length, 1);
  });

  test(`${wire}: a call whose arguments are broken is told apart, the good one stays`, async (context) => {
    const broken = { ...call, id: "call_2", args: '{"city": }' };
    const { here, server } = await asked(context, wire, [{ reply: { calls: [call, broken] } }]);
    const reply = await here.call(request(), { signal: idle });
    assert.equal(reply.finish, "tools");
    assert.equal(server.received.length, 1);
    if (wire === "google") {
      // Gemini keeps the calls to itself and only says why the reply ended.
      assert.match(reply.malformed?.[0]?.message ?? "", /MALFORMED_FUNCTION_CALL/);
      return;
    }
    const calls = reply.message.parts.flatMap((part) =>
      part.part_type === "tool_call" ? [part.data.tool_call_id] : [],
    );
    assert.deepEqual(calls, ["call_1"]);
    assert.equal(reply.malformed?.[0]?.tool_name, "weather");
    assert.equal(reply.malformed?.[0]?.text, '{"city": }');
    assert.match(reply.malformed?.[0]?.message ?? "", /not JSON/);
  });

  test(`${wire}: a reply of nothing, or of reasoning alone, is an empty reply and not an error`, async (context) => {
    for (const reply of [{}, { reasoning: "Hm." }]) {
      const { here, server } = await asked(context, wire, [{ reply }]);
      const got = await here.call(request(), { signal: idle });
      assert.deepEqual([got.finish, got.message.parts, server.received.length], ["empty", [], 1]);
    }
  });

  test(`${wire}: reasoning that no text and no call follows is not sent again`, async (context) => {
    const cut: ScriptedReply = { reasoning: "Hm. ", calls: [{ ...call, args: '{"city":"G' }], finish: "length" };
    const { here, server } = await asked(context, wire, [
      { reply: wire === "google" ? { ...cut, calls: [call] } : cut },
      { reply: { text: ["ok"] } },
      { reply: full },
      { reply: { text: ["ok"] } },
    ]);
    const state = /Hm\. |c2lnbmVk|ZW5j|"thought":true/;
    const first = await here.call(request(), { signal: idle });
    await here.call(request({}, [userMessage("hello"), first.message, userMessage("again")]), { signal: idle });
    assert.doesNotMatch(JSON.stringify(server.received[1]?.body), state);
    // As in a history that a child inherits: the call has no result yet and was taken out.
    const { message } = await here.call(request(), { signal: idle });
    const withoutCall = { ...message, parts: message.parts.filter(({ part_type }) => part_type === "data") };
    await here.call(request({}, [userMessage("hello"), withoutCall, userMessage("again")]), { signal: idle });
    assert.doesNotMatch(JSON.stringify(server.received[3]?.body), state);
  });

  test(`${wire}: 429 waits as long as the provider says, then goes on`, async (context) => {
    const { here, server } = await askedInHurry(context, wire, [
      { status: 429, headers: { "retry-after": "3" } },
      { status: 429, headers: { "retry-after-ms": "20" } },
      { reply: { text: ["ok"] } },
    ]);
    const started = performance.now();
    const waits: number[] = [];
    const reply = await here.call(request(), { signal: idle, onRetry: ({ waitMs }) => waits.push(waitMs) });
    assert.equal(messageText(reply.message), "ok");
    assert.deepEqual(waits, [3000, 20]);
    assert.ok(performance.now() - started >= 29);
    assert.equal(server.received.length, 3);
  });

  test(`${wire}: 500, 502, 503, 529 and a broken connection are tried again, four times in all`, async (context) => {
    const turns: Turn[] = [
      { status: 500 },
      { status: 503, headers: { "retry-after-ms": "5" } },
      { hangUp: true },
      { reply: { text: ["ok"] } },
    ];
    const fine = await askedInHurry(context, wire, turns);
    assert.equal(messageText((await fine.here.call(request(), { signal: idle })).message), "ok");
    const overloaded = await askedInHurry(context, wire, [
      { status: 529, headers: { "retry-after-ms": "5" } },
      { reply: { text: ["ok"] } },
    ]);
    assert.equal(messageText((await overloaded.here.call(request(), { signal: idle })).message), "ok");
    const { here, server } = await askedInHurry(context, wire, [{ status: 502 }]);
    await assert.rejects(here.call(request(), { signal: idle }), codeOf("busy", /provider's side/, "safe"));
    assert.equal(server.received.length, 4);
  });

  test(`${wire}: no other 4xx is tried again, and each says what to do`, async (context) => {
    const cases: [number, unknown, string, RegExp][] = [
      [400, undefined, "invalid_input", /refused the request/],
      [401, undefined, "refused", /check HERE_KEY/],
      [404, undefined, "not_found", /not a model of here/],
      [413, undefined, "too_large", /shorten the conversation/],
      [
        429,
        { error: { message: "quota", type: "insufficient_quota", code: "insufficient_quota" } },
        "refused",
        /no credit left/,
      ],
    ];
    for (const [status, body, code, pattern] of cases) {
      const { here, server } = await asked(context, wire, [{ status, ...(body === undefined ? {} : { body }) }]);
      await assert.rejects(here.call(request(), { signal: idle }), codeOf(code, pattern, "never"));
      assert.equal(server.received.length, 1, String(status));
    }
  });

  test(`${wire}: a key that a server quotes back is not told`, async (context) => {
    const error = {
      code: 401,
      type: "authentication_error",
      message: "bad key key-1234567890",
      status: "UNAUTHENTICATED",
    };
    const { here } = await asked(context, wire, [{ status: 401, body: { type: "error", error } }]);
    await assert.rejects(here.call(request(), { signal: idle }), (thrown: unknown) => {
      assert.ok(thrown instanceof TuttiError);
      assert.doesNotMatch(thrown.message, /key-1234567890/);
      return true;
    });
  });

  test(`${wire}: garbage in place of a stream is never taken for a reply`, async (context) => {
    for (const text of ["", "<html>busy</html>", "data: {not json}\n\n", 'data: {"a":1}\n\n', "data: []\n\n"]) {
      const { here } = await askedInHurry(context, wire, [{ text }]);
      await assert.rejects(here.call(request(), { signal: idle }), (thrown: unknown) => thrown instanceof TuttiError);
    }
  });

  test(`${wire}: a server that says nothing and one that falls silent run into their limits`, async (context) => {
    const silent = await asked(context, wire, [{ silent: true }, { reply: { text: ["ok"] } }], { first_byte_ms: 60 });
    assert.equal(messageText((await silent.here.call(request(), { signal: idle })).message), "ok");
    assert.equal(silent.server.received.length, 2);
    const slow = await asked(context, wire, [{ reply: { text: ["a", "b", "c", "d"] }, frameMs: 40 }], {
      total_ms: 100,
    });
    await assert.rejects(
      slow.here.call(request(), { signal: idle }),
      codeOf("deadline", /had not finished/, "unknown"),
    );
    assert.equal(slow.server.received.length, 1);
    const patient = await asked(context, wire, [{ reply: { text: ["a", "b", "c", "d"] }, frameMs: 20 }], {
      idle_ms: 5000,
    });
    assert.equal(messageText((await patient.here.call(request(), { signal: idle })).message), "abcd");
  });

  test(`${wire}: an abort ends the call with its own reason, at once and for good`, async (context) => {
    const { here, server } = await asked(context, wire, [
      { reply: { text: ["a", "b", "c", "d", "e", "f"] }, frameMs: 50 },
    ]);
    const stop = new AbortController();
    const reason = new Error("enough");
    const calling = here.call(request(), { signal: stop.signal, onText: () => stop.abort(reason) });
    await assert.rejects(calling, (thrown) => thrown === reason);
    assert.equal(server.received.length, 1);
    await assert.rejects(here.call(request(), { signal: AbortSignal.abort(reason) }), (thrown) => thrown === reason);
  });
}

test("an error in the middle of a provider's stream drops the reply, and is retried when that may help", async (context) => {
  const begun = (wire: Wire): string =>
    framesOf(wire, { text: ["half an answer"] })
      .slice(0, 4)
      .join("");
  const errors: [Wire, string][] = [
    [
      "anthropic",
      'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}\n\n',
    ],
    [
      "openai",
      'event: error\ndata: {"type":"error","sequence_number":9,"error":{"type":"server_error","code":"server_error","message":"oops","param":null}}\n\n',
    ],
    ["openai-compatible", 'data: {"error":{"message":"oops","type":"server_error","param":null,"code":null}}\n\n'],
    ["google", 'data: {"error":{"code":503,"message":"overloaded","status":"UNAVAILABLE"}}\n\n'],
  ];
  for (const [wire, error] of errors) {
    const { here, server } = await askedInHurry(context, wire, [
      { text: begun(wire) + error },
      { reply: { text: ["again"] } },
    ]);
    const reply = await here.call(request(), { signal: idle });
    assert.equal(messageText(reply.message), "again", wire);
    assert.equal(server.received.length, 2, wire);
  }
});

test("the limits and the price of an unknown model: counted by the server, paid for by nobody knows how much", async (context) => {
  const { here } = await asked(context, "openai-compatible", [
    { reply: { text: ["ok"], usage: { input: 7, output: 3 } } },
  ]);
  const reply = await here.call(request({ model: "here/unknown", maxOutputTokens: 9 }), { signal: idle });
  assert.deepEqual(reply.usage, { input_tokens: 7, output_tokens: 3, money_micro_usd: null });
});
