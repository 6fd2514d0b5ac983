// Many callers of one provider: they slow down together, and nobody fails who need not.

import assert from "node:assert/strict";
import { test } from "node:test";

import { messageText } from "../protocol/task/message.ts";
import { environment, hurried, idle, model, request, wires } from "../../test/support/model-server-models.ts";
import { modelServer } from "../../test/support/model-server.ts";

test("a hundred agents against a provider that takes four at a time all get their reply", async (context) => {
  let refused = 0;
  const server = await modelServer(context, "openai-compatible", (_, __, open) => {
    if (open <= 4) return { reply: { text: ["ok"] }, frameMs: 1 };
    refused += 1;
    return { status: 429, headers: { "retry-after-ms": "20" } };
  });
  const here = model("openai-compatible", server, { settings: { concurrency: 50 } });
  const replies = await Promise.all(Array.from({ length: 100 }, () => here.call(request(), { signal: idle })));
  assert.deepEqual([...new Set(replies.map(({ message }) => messageText(message)))], ["ok"]);
  assert.ok(refused > 0, "the provider did refuse some");
  assert.ok(refused < 200, `${refused} refusals: the callers did not slow down`);
  assert.ok(server.mostOpen <= 50);
});

test("two keys have a lane each: one that is throttled does not hold up the other", async (context) => {
  const server = await modelServer(context, "openai-compatible", (seen) =>
    seen.headers["authorization"] === "Bearer key-1234567890"
      ? { status: 429, headers: { "retry-after": "3600" } }
      : { reply: { text: ["ok"] } },
  );
  const throttled = model("openai-compatible", server);
  await assert.rejects(
    throttled.call(request(), { signal: idle }),
    /over its rate limit and asks for a pause of 3600 s/,
  );
  // Nothing more is sent while the provider wants its pause.
  await assert.rejects(throttled.call(request(), { signal: idle }), /pause of 3600 s/);
  assert.equal(server.received.length, 1);
  const open = model("openai-compatible", server, { settings: { key_env: null } });
  assert.equal(messageText((await open.call(request(), { signal: idle })).message), "ok");
});

for (const wire of wires) {
  test(`${wire}: the list tells what answers, whose key is wrong and what cannot be reached`, async (context) => {
    const known = { data: [{ id: "m" }, { id: "n" }], models: [] };
    const server = await modelServer(context, wire, [
      { status: 200, body: wire === "google" ? { models: [{ name: "models/m" }] } : known },
      { status: 401 },
      { silent: true },
    ]);
    const list = async (): Promise<unknown[]> => {
      const listed = await environment(wire, server).list({ probe: { timeoutMs: 500, signal: idle } });
      const probe = listed.find(({ name }) => name === "here/m")?.probe;
      return [probe?.reachable, probe?.problem?.replace(/http:\S+/, "")];
    };
    assert.deepEqual(await list(), [true, undefined]);
    assert.deepEqual(await list(), [true, "the key was not accepted; check HERE_KEY"]);
    assert.deepEqual(await list(), [false, " no answer in 500 ms"]);
    assert.match(JSON.stringify(server.received[0]?.headers), /key-1234567890/);
  });
}

test("a provider that stays over its limit is given up in the end, with the verdict that nothing happened", async (context) => {
  const server = await modelServer(context, "openai-compatible", [
    { status: 429, headers: { "retry-after-ms": "50" } },
  ]);
  const here = model("openai-compatible", server, { clock: hurried });
  await assert.rejects(here.call(request(), { signal: idle }), (thrown: unknown) => {
    const { code, retry } = thrown as { code: string; retry: string };
    return code === "busy" && retry === "safe";
  });
  assert.equal(server.received.length, 25);
});
