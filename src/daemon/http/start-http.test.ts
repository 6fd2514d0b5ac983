import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { get } from "node:https";
import { connect } from "node:net";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { WebSocket } from "ws";

import { tempFolder } from "../../../test/support/temp-folder.ts";
import type { Runner } from "../../ports.ts";
import { TuttiError } from "../../protocol/error.ts";
import { JoinedOperator } from "../../protocol/operator/operator-session.ts";
import { openKit } from "../../../test/support/http-kit.ts";

/** Waits for a message that does not come. */
const loop: Runner = async (durable) => {
  await durable.receive("h", { block: true });
  return null;
};

test("closing ends streams, WebSockets and long polls with a reason, and frees the port", async (t) => {
  const kit = await openKit({ runners: { loop } });
  t.after(() => kit.close());
  const task = await kit.start({ agent: "a" });
  const stream = kit.call("/v1/events", { headers: { accept: "text/event-stream" } });
  const poll = kit.call(`/v1/tasks/${task}/result?wait_ms=60000`);
  const { sid, token } = JoinedOperator.parse((await kit.call("/v1/operators", { json: {} })).body);
  const socket = new WebSocket(`${kit.http.url.replace("http", "ws")}/v1/operators/${sid}/ws`, {
    headers: { authorization: `Bearer ${token}` },
  });
  await once(socket, "open");
  const idle = connect({ host: "127.0.0.1", port: kit.http.port });
  await once(idle, "connect");
  const [closed, ended] = [once(socket, "close"), once(idle, "close")];
  idle.resume();
  const began = performance.now();
  await Promise.all([kit.http.close(), kit.http.close()]);
  assert.ok(performance.now() - began < 4_000, "no connection had to be destroyed");
  assert.match((await stream).text, /event: end\ndata: \{"reason":"error","after":\d+,"error":\{"code":"stopped"/);
  const answered = await poll;
  assert.equal(answered.status, 503);
  assert.equal(answered.body?.["code"], "stopped");
  assert.equal((await closed)[0], 1001);
  await ended;
  await assert.rejects(kit.call("/healthz"), TypeError);
});

test("a request that never finishes delays closing only for a limited time", async (t) => {
  const kit = await openKit();
  t.after(() => kit.close());
  const socket = connect({ host: "127.0.0.1", port: kit.http.port });
  t.after(() => socket.destroy());
  const head = [
    "POST /v1/keys HTTP/1.1",
    `Host: 127.0.0.1:${kit.http.port}`,
    `Authorization: Bearer ${kit.key}`,
    "Content-Type: application/json",
    "Content-Length: 100",
    "Expect: 100-continue",
  ];
  socket.write(`${head.join("\r\n")}\r\n\r\n{`);
  // The service sends 100 Continue when it starts to read the body.
  await once(socket, "data");
  const closed = new Promise((resolve) => socket.on("error", () => {}).once("close", resolve));
  const began = performance.now();
  await kit.http.close();
  await closed;
  assert.ok(performance.now() - began < 8_000);
});

test("a head or body that arrives too slowly, and an unused connection, time out", async (t) => {
  const timeouts = { headersTimeout: 200, requestTimeout: 400, keepAliveTimeout: 200 };
  const kit = await openKit({ http: { timeouts } });
  t.after(() => kit.close());
  const trickle = (text: string): Promise<string> => {
    const socket = connect({ host: "127.0.0.1", port: kit.http.port });
    const timer = setInterval(() => socket.writable && socket.write("x"), 20);
    socket.write(text);
    return new Promise((resolve) => {
      let got = "";
      socket.on("error", () => {}).on("data", (chunk) => (got += chunk.toString()));
      socket.once("close", () => {
        clearInterval(timer);
        resolve(got);
      });
    });
  };
  const host = `Host: 127.0.0.1:${kit.http.port}`;
  assert.match(await trickle(`GET /healthz HTTP/1.1\r\n${host}\r\nX-Slow: `), /^HTTP\/1\.1 408 [^]*problem\+json/);
  const key = `Authorization: Bearer ${kit.key}\r\nContent-Type: application/json`;
  const body = await trickle(`POST /v1/keys HTTP/1.1\r\n${host}\r\n${key}\r\nContent-Length: 100000\r\n\r\n`);
  assert.match(body, /^HTTP\/1\.1 408 /);
  assert.match(await kit.raw(`GET /healthz HTTP/1.1\r\n${host}\r\n\r\n`), /^HTTP\/1\.1 200 /);
});

test("a caller that does not read its reply is disconnected; one that waits for its reply is not", async (t) => {
  const kit = await openKit({
    runners: { loop: async (durable, input) => (durable.agent === "a" ? loop(durable, input) : "x".repeat(4_000_000)) },
    http: { timeouts: { idleTimeout: 1_000 } },
  });
  t.after(() => kit.close());
  for (let count = 0; count < 4; count += 1) await kit.state.engine.result(await kit.start({ agent: "much" }));
  const asking = (read: boolean): { socket: ReturnType<typeof connect>; got: () => number } => {
    const socket = connect({ host: "127.0.0.1", port: kit.http.port });
    t.after(() => socket.destroy());
    let got = 0;
    socket.on("error", () => {}).on("data", (chunk) => (got += chunk.length));
    if (!read) socket.pause();
    const head = [`Host: 127.0.0.1:${kit.http.port}`, `Authorization: Bearer ${kit.key}`, "Connection: close"];
    socket.write(`GET /v1/events?after=0 HTTP/1.1\r\n${head.join("\r\n")}\r\n\r\n`);
    return { socket, got: () => got };
  };
  const whole = asking(true);
  await once(whole.socket, "close");
  const stuck = asking(false);
  const poll = kit.call(`/v1/tasks/${await kit.start({ agent: "a" })}/result?wait_ms=500`);
  assert.equal((await poll).status, 202);
  await sleep(3_000);
  const closed = once(stuck.socket, "close");
  stuck.socket.resume();
  await closed;
  assert.ok(stuck.got() < whole.got(), `${stuck.got()} of ${whole.got()} bytes`);
});

test("a port that is in use is reported as busy", async (t) => {
  const kit = await openKit();
  t.after(() => kit.close());
  const taken = openKit({ http: { port: kit.http.port } });
  await assert.rejects(taken, (thrown) => thrown instanceof TuttiError && thrown.code === "busy");
});

test("with a certificate it speaks only TLS, and a handshake that takes too long times out", async (t) => {
  const folder = tempFolder(t);
  const [cert, key] = [join(folder, "cert.pem"), join(folder, "key.pem")];
  const subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"];
  const maker = "openssl";
  try {
    const args = ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "1"];
    execFileSync(maker, [...args, ...subject, "-keyout", key, "-out", cert], { stdio: "ignore" });
  } catch {
    t.skip("there is no openssl to make a certificate with");
    return;
  }
  const tls = { cert: readFileSync(cert), key: readFileSync(key) };
  const kit = await openKit({ http: { tls, timeouts: { headersTimeout: 500 } } });
  t.after(() => kit.close());
  assert.match(kit.http.url, /^https:/);
  const silent = connect({ host: "127.0.0.1", port: kit.http.port });
  t.after(() => silent.destroy());
  const ended = new Promise((resolve) => silent.on("error", () => {}).once("close", resolve));
  silent.resume();
  const late = new Promise((resolve) => setTimeout(resolve, 10_000, "still open").unref());
  const status = await new Promise<number | undefined>((resolve, reject) => {
    get(`${kit.http.url}/healthz`, { ca: tls.cert, headers: { origin: kit.http.url }, agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode);
    }).on("error", reject);
  });
  assert.equal(status, 200);
  const plain = await kit.raw(`GET /healthz HTTP/1.1\r\nHost: 127.0.0.1:${kit.http.port}\r\n\r\n`).catch(() => "");
  assert.doesNotMatch(plain, / 200 /);
  assert.notEqual(await Promise.race([ended, late]), "still open", "a connection without a handshake is closed");
});
