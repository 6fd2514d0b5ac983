import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { after, before, test } from "node:test";

import { type Kit, openKit } from "../../../test/support/http-kit.ts";

let kit: Kit;
before(async () => {
  kit = await openKit();
});
after(() => kit.close());

const crlf = "\r\n";
const lines = (...all: string[]): string => `${all.join(crlf)}${crlf}${crlf}`;
const host = (): string => `Host: 127.0.0.1:${kit.http.port}`;
const bearer = (): string => `Authorization: Bearer ${kit.key}`;
const statusOf = (text: string): number => Number(text.slice(9, 12));
const replies = (text: string): number => text.split(/HTTP\/1\.1 \d{3} /).length - 1;

/** Expects one reply, a problem document with this status, and that the connection is closed. */
async function refused(text: string, status: number): Promise<void> {
  const got = await kit.raw(text);
  assert.equal(statusOf(got), status, `${JSON.stringify(text.slice(0, 200))} got ${got.slice(0, 300)}`);
  assert.equal(replies(got), 1, got);
  assert.match(got, /Content-Type: application\/problem\+json\r\n/);
  assert.match(got, /X-Content-Type-Options: nosniff\r\n/);
  assert.match(got, /\r\nConnection: close\r\n/);
}

test("a request with two lengths, or a length and an encoding, is refused and nothing after it is read", async () => {
  const smuggled = lines("GET /v1/status HTTP/1.1", host(), bearer());
  const post = "POST /v1/pause HTTP/1.1";
  await refused(lines(post, host(), "Content-Length: 0", "Content-Length: 5") + smuggled, 400);
  await refused(lines(post, host(), "Content-Length: 5", "Content-Length: 5") + smuggled, 400);
  await refused(lines(post, host(), "Content-Length: 4", "Transfer-Encoding: chunked") + smuggled, 400);
  await refused(lines(post, host(), "Transfer-Encoding: chunked, identity") + smuggled, 400);
  await refused(lines(post, host(), "Content-Length: +5") + smuggled, 400);
  await refused(lines(post, host(), "Content-Length : 5") + smuggled, 400);
});

test("bare line feeds, folded headers and control characters are refused", async () => {
  await refused(`GET /healthz HTTP/1.1\n${host()}\n\n`, 400);
  await refused(lines("GET /healthz HTTP/1.1", host(), "X-A: 1", " folded: yes"), 400);
  await refused(lines("GET /healthz HTTP/1.1", host(), "X-A: a\0b"), 400);
  await refused(lines("GET /heal\x01thz HTTP/1.1", host()), 400);
  await refused(lines("GET /healthz HTTP/9.9", host()), 400);
  await refused("\x16\x03\x01\x02\x00 this is TLS", 400);
});

test("a request with a broken chunk has no effect", async () => {
  const head = lines(
    "POST /v1/keys HTTP/1.1",
    host(),
    bearer(),
    "Content-Type: application/json",
    "Transfer-Encoding: chunked",
  );
  const got = await kit.raw(`${head}zz${crlf}{"name":"x","role":"admin"}${crlf}0${crlf}${crlf}`);
  assert.ok(got === "" || statusOf(got) === 400, got);
  assert.equal(kit.keys.list().length, 1);
});

test("a request without a Host, with two Hosts, or with two keys is refused", async () => {
  await refused(lines("GET /healthz HTTP/1.1", "Connection: close"), 400);
  await refused(lines("GET /healthz HTTP/1.0"), 400);
  await refused(lines("GET /healthz HTTP/1.1", host(), "Host: evil.example", "Connection: close"), 400);
  await refused(lines("GET /healthz HTTP/1.1", host(), "hOST: 127.0.0.1", "Connection: close"), 400);
  await refused(
    lines("GET /v1/status HTTP/1.1", host(), "Authorization: Bearer tk_x", bearer(), "Connection: close"),
    400,
  );
});

test("a URL as the request target is accepted only when it names the Host", async () => {
  const { port } = kit.http;
  const ours = await kit.raw(lines(`GET http://127.0.0.1:${port}/healthz HTTP/1.1`, host(), "Connection: close"));
  assert.equal(statusOf(ours), 200);
  await refused(lines("GET http://evil.example/healthz HTTP/1.1", host(), "Connection: close"), 400);
  await refused(lines(`GET http://evil@127.0.0.1:${port}/healthz HTTP/1.1`, host(), "Connection: close"), 400);
  await refused(lines("GET http://evil.example/healthz HTTP/1.1", "Host: evil.example", "Connection: close"), 421);
  await refused(lines("OPTIONS * HTTP/1.1", host(), "Connection: close"), 400);
});

test("a hundred headers are accepted; more of them, or longer ones, are refused", async () => {
  const headers = (count: number): string[] => Array.from({ length: count }, (_, at) => `X-${at}: 1`);
  const most = await kit.raw(lines("GET /healthz HTTP/1.1", host(), "Connection: close", ...headers(98)));
  assert.equal(statusOf(most), 200);
  await refused(lines("GET /healthz HTTP/1.1", host(), "Connection: close", ...headers(99)), 431);
  await refused(lines("GET /healthz HTTP/1.1", host(), "Connection: close", ...headers(300)), 431);
  await refused(lines("GET /healthz HTTP/1.1", host(), `X-Long: ${"x".repeat(20_000)}`), 431);
  await refused(lines(`GET /${"x".repeat(20_000)} HTTP/1.1`, host()), 431);
});

test("pipelined requests are answered in order", async () => {
  const get = (path: string, ...more: string[]): string => lines(`GET ${path} HTTP/1.1`, host(), bearer(), ...more);
  const got = await kit.raw(
    get("/healthz") + get("/v1/nothing") + get("/v1/status") + get("/readyz", "Connection: close"),
  );
  assert.deepEqual(
    [...got.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => status),
    ["200", "404", "200", "200"],
  );
});

test("a body that nobody reads is not taken for the next request", async () => {
  const inner = lines("GET /v1/keys HTTP/1.1", host(), bearer());
  const outer = lines("GET /healthz HTTP/1.1", host(), `Content-Length: ${inner.length}`);
  const got = await kit.raw(outer + inner + lines("GET /readyz HTTP/1.1", host(), "Connection: close"));
  assert.equal(replies(got), 2);
  assert.doesNotMatch(got, /"keys"/);
});

test("a caller that disconnects during its body or the reply disturbs nobody", async () => {
  for (let count = 0; count < 20; count += 1) {
    const socket = connect({ host: "127.0.0.1", port: kit.http.port });
    await once(socket, "connect");
    const head = lines(
      "POST /v1/keys HTTP/1.1",
      host(),
      bearer(),
      "Content-Type: application/json",
      "Content-Length: 1000",
    );
    socket.write(
      count % 2 === 0 ? `${head}{"na` : lines("GET /v1/events HTTP/1.1", host(), bearer(), "Accept: text/event-stream"),
    );
    if (count % 6 === 3) await once(socket, "data").catch(() => {});
    socket.resetAndDestroy();
  }
  assert.equal((await kit.call("/readyz")).status, 200);
  assert.equal(kit.keys.list().length, 1);
});
