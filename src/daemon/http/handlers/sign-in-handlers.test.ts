import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { type Kit, openKit, type Replied } from "../../../../test/support/http-kit.ts";
import { until } from "../../../../test/support/wait-until.ts";
import { Answer } from "../../../protocol/task/ask.ts";

let kit: Kit;
before(async () => {
  kit = await openKit({
    runners: {
      loop: (durable) => durable.wait("ask", { ask: { kind: "approval", question: "Go on?" }, schema: Answer }),
    },
  });
});
after(() => kit.close());

const none = { authorization: "" };
const by = (bearer: string): Record<string, string> => ({ authorization: `Bearer ${bearer}` });
const codeOf = async (key = kit.key): Promise<string> => {
  const { status, body } = await kit.call("/v1/sign-in/codes", { method: "POST", headers: by(key) });
  assert.equal(status, 201);
  return String(body?.["code"]);
};
const signIn = (code: string, headers: Record<string, string> = none): Promise<Replied> =>
  kit.call("/v1/sign-in", { json: { code }, headers });
const tokenOf = async (key = kit.key): Promise<string> => String((await signIn(await codeOf(key))).body?.["token"]);
const statusWith = async (bearer: string, path = "/v1/me"): Promise<number> =>
  (await kit.call(path, { headers: by(bearer) })).status;

test("a page signs in with a code, uses its token as a key, and signs out; nobody gets a cookie", async () => {
  const viewer = await kit.keys.add({ name: "ann", role: "viewer" });
  const { status, headers, body } = await signIn(await codeOf(viewer.key));
  assert.equal(status, 201);
  assert.equal(headers.get("set-cookie"), null);
  const key = { id: viewer.id, name: "ann", role: "viewer" };
  assert.partialDeepStrictEqual(body, { key });
  const token = String(body?.["token"]);
  const me = await kit.call("/v1/me", { headers: by(token) });
  assert.deepEqual(me.body, { key, until: body?.["expires_at"] });
  assert.deepEqual((await kit.call("/v1/me", { headers: by(viewer.key) })).body, { key, until: null });
  assert.equal(await statusWith(token, "/v1/tasks"), 200);
  assert.equal(await statusWith(token, "/v1/keys"), 403, "it has the rights of its key and no more");
  assert.equal((await kit.call("/v1/sign-in", { method: "DELETE", headers: by(token) })).status, 204);
  assert.equal(await statusWith(token), 401);
  assert.equal((await kit.call("/v1/sign-in", { method: "DELETE", headers: by(viewer.key) })).status, 204);
  assert.equal(await statusWith(viewer.key), 200, "signing out does not revoke a key");
});

test("a code works once, and a page cannot sign another one in to outlive its token", async () => {
  const code = await codeOf();
  const token = String((await signIn(code)).body?.["token"]);
  const again = await signIn(code);
  assert.deepEqual([again.status, again.body?.["code"]], [401, "unauthorized"]);
  const made = await kit.call("/v1/sign-in/codes", { method: "POST", headers: by(token) });
  assert.equal(made.status, 403);
  assert.equal((await kit.call("/v1/sign-in/codes", { method: "POST", headers: none })).status, 401);
});

test("a page of another origin can neither sign in nor use a token", async () => {
  const code = await codeOf();
  for (const headers of [
    { ...none, origin: "http://evil.example" },
    { ...none, origin: "null" },
    { ...none, "sec-fetch-site": "cross-site" },
  ]) {
    assert.equal((await signIn(code, headers)).status, 403);
  }
  const form = await kit.call("/v1/sign-in", {
    method: "POST",
    body: JSON.stringify({ code }),
    headers: { ...none, "content-type": "text/plain" },
  });
  assert.equal(form.status, 415, "what a form can send without asking first is not read");
  const token = String((await signIn(code)).body?.["token"]);
  const foreign = await kit.call("/v1/tasks", { headers: { ...by(token), origin: "http://evil.example" } });
  assert.equal(foreign.status, 403);
  for (const secret of [token, code]) {
    const inAddress = await kit.call(`/v1/tasks?agent=${secret}`, { headers: by(token) });
    assert.deepEqual([inAddress.status, /do not belong in a URL/.test(inAddress.text)], [401, true]);
  }
});

test("whoever guesses codes is answered more and more slowly, and the right code is not", async () => {
  const started = Date.now();
  const guesses = Array.from({ length: 20 }, (_, n) => signIn(`tc_${String(n).padStart(32, "x")}`));
  const statuses = (await Promise.all(guesses)).map(({ status }) => status);
  assert.ok(statuses.every((status) => status === 401 || status === 429));
  assert.ok(statuses.includes(429) && Date.now() - started > 100);
  const before = Date.now();
  assert.equal((await signIn(await codeOf())).status, 201);
  assert.ok(Date.now() - before < 2_000);
  assert.equal((await signIn("x".repeat(129))).status, 422);
});

/** Reads until the stream ends, for a limited time. */
async function streamed(bearer: string): Promise<{ readonly end: Promise<string> }> {
  const response = await fetch(`${kit.http.url}/v1/events`, {
    headers: { ...by(bearer), accept: "text/event-stream" },
    signal: AbortSignal.timeout(240_000),
  });
  assert.equal(response.status, 200);
  return { end: response.text() };
}

test("a token, its streams and its waits end with the key, and streams and waits with the token", async () => {
  const ann = await kit.keys.add({ name: "ann", role: "operator" });
  const task = await kit.start({ agent: "waits" });
  const [one, two] = [await tokenOf(ann.key), await tokenOf(ann.key)];
  const [first, second] = [await streamed(one), await streamed(two)];
  const began = Date.now();
  const waits = kit.call(`/v1/tasks/${task}/result?wait_ms=30000`, { headers: by(one) });
  await until(async () => (await kit.state.client.asks(task))[0]);
  await kit.call("/v1/sign-in", { method: "DELETE", headers: by(one) });
  assert.match(await first.end, /"code":"unauthorized"/);
  assert.equal((await waits).status, 401);
  assert.ok(Date.now() - began < 20_000);
  assert.equal(await statusWith(two), 200);
  await kit.keys.revoke(ann.id);
  assert.match(await second.end, /"code":"unauthorized"/);
  assert.equal(await statusWith(two), 401);
});

test("a token speaks for the operator session that its key joined, and for no other", async () => {
  const [ann, ben] = [
    await kit.keys.add({ name: "ann", role: "operator" }),
    await kit.keys.add({ name: "ben", role: "operator" }),
  ];
  const joined = await kit.call("/v1/operators", {
    json: { roles: ["page-of-ann"] },
    headers: by(await tokenOf(ann.key)),
  });
  assert.equal(joined.status, 200, joined.text);
  const sid = String(joined.body?.["sid"]);
  const ticket = async (bearer: string): Promise<number> =>
    (await kit.call(`/v1/operators/${sid}/ticket`, { method: "POST", headers: by(bearer) })).status;
  assert.deepEqual([await ticket(await tokenOf(ann.key)), await ticket(await tokenOf(ben.key))], [200, 403]);
});
