import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

import { Problem } from "../../protocol/api/problem.ts";
import { routes } from "../../protocol/api/routes.ts";
import { TuttiError } from "../../protocol/error.ts";
import { type Kit, openKit, type Replied } from "../../../test/support/http-kit.ts";

let kit: Kit;
let task: string;
const warnings: object[] = [];
const errors: object[] = [];

before(async () => {
  const log = {
    info() {},
    warn: (facts: object) => warnings.push(facts),
    error: (facts: object) => errors.push(facts),
  };
  kit = await openKit({
    runners: { loop: async () => "done" },
    http: {
      log,
      allowedHosts: ["box.example", "other.example:99"],
      allowedOrigins: ["https://board.example"],
      // Client and server share this process: when it is kept busy, none may close a connection that the other still uses.
      timeouts: { keepAliveTimeout: 600_000 },
    },
  });
  task = await kit.start({ agent: "a" });
  await kit.state.engine.result(task);
});
after(() => kit.close());

function assertProblem(reply: Replied, status: number, code?: string): void {
  assert.equal(reply.status, status, reply.text);
  assert.equal(reply.headers.get("content-type"), "application/problem+json");
  const problem = Problem.parse(reply.body);
  assert.equal(problem.status, status);
  if (code !== undefined) assert.equal(problem.code, code);
}

const bare = { headers: { authorization: "" } };

async function head(...lines: string[]): Promise<{ status: number; text: string }> {
  const text = await kit.raw(`${lines.join("\r\n")}\r\nConnection: close\r\n\r\n`);
  return { status: Number(text.slice(9, 12)), text };
}
const hostIs = (host: string) => head("GET /healthz HTTP/1.1", `Host: ${host}`);

test("every reply has the security headers: successful, refused, empty and not found", async () => {
  const replies = [
    await kit.call(`/v1/tasks/${task}`),
    await kit.call("/v1/status", bare),
    await kit.call("/nowhere"),
    await kit.call("/v1/tasks", { method: "OPTIONS" }),
    await kit.call(`/v1/tasks/${task}/events`, { headers: { accept: "text/event-stream" } }),
    await kit.call(`/v1/tasks/${task}/export`),
  ];
  for (const { headers } of replies) {
    assert.equal(headers.get("x-content-type-options"), "nosniff");
    assert.equal(headers.get("cache-control"), "no-store");
    assert.equal(headers.get("content-security-policy"), "default-src 'none'; frame-ancestors 'none'");
    assert.equal(headers.get("referrer-policy"), "no-referrer");
    assert.equal(headers.get("cross-origin-resource-policy"), "same-origin");
    for (const name of ["server", "x-powered-by", "access-control-allow-origin"]) assert.equal(headers.get(name), null);
  }
});

test("only loopback names with the right port, and configured names, are accepted as Host", async () => {
  const { port } = kit.http;
  for (const host of [
    `127.0.0.1:${port}`,
    `localhost:${port}`,
    `LocalHost:${port}`,
    `[::1]:${port}`,
    "box.example",
    `box.example:${port}`,
    "other.example:99",
  ]) {
    assert.equal((await hostIs(host)).status, 200, host);
  }
  for (const host of [
    "evil.example",
    `evil.example:${port}`,
    `localhost.evil.example:${port}`,
    "127.0.0.1",
    "127.0.0.1:1",
    `127.0.0.1.:${port}`,
    `localhost.:${port}`,
    `127.1:${port}`,
    `0.0.0.0:${port}`,
    "other.example",
    `box.example@127.0.0.1:${port}`,
    "",
  ]) {
    const { status, text } = await hostIs(host);
    assert.equal(status, 421, host);
    assert.match(text, /application\/problem\+json/);
  }
});

test("a page of another origin is refused even with a good key", async () => {
  const { port } = kit.http;
  const from = (origin: string, ...more: string[]) =>
    head(
      `GET /v1/tasks/${task} HTTP/1.1`,
      `Host: 127.0.0.1:${port}`,
      `Authorization: Bearer ${kit.key}`,
      `Origin: ${origin}`,
      ...more,
    );
  assert.equal((await from(`http://127.0.0.1:${port}`)).status, 200);
  for (const origin of [
    "http://evil.example",
    "null",
    `https://127.0.0.1:${port}`,
    "http://127.0.0.1:1",
    `http://localhost.evil.example:${port}`,
    "http://localhost:1",
    "http://localhost",
    "",
  ]) {
    assert.equal((await from(origin)).status, 403, origin);
  }
  const local = await from(`http://localhost:${port}`, "Sec-Fetch-Site: cross-site");
  assert.equal(local.status, 200, "another loopback name of this service");
  assert.match(local.text, /Access-Control-Allow-Origin: http:\/\/localhost:/);
  const same = (site: string) => head("GET /healthz HTTP/1.1", `Host: 127.0.0.1:${port}`, `Sec-Fetch-Site: ${site}`);
  assert.equal((await same("cross-site")).status, 403);
  assert.equal((await same("same-origin")).status, 200);
  assert.equal((await same("none")).status, 200);
});

test("an allowed origin may read replies and send preflight requests; it still needs a key", async () => {
  const origin = "https://board.example";
  const { port } = kit.http;
  const lines = [`Host: 127.0.0.1:${port}`, `Origin: ${origin}`, "Sec-Fetch-Site: cross-site"];
  const asked = await head("OPTIONS /v1/tasks HTTP/1.1", ...lines, "Access-Control-Request-Method: GET");
  assert.equal(asked.status, 204);
  assert.match(asked.text, /Access-Control-Allow-Origin: https:\/\/board\.example\r\n/);
  assert.match(asked.text, /Access-Control-Allow-Headers: authorization/);
  const refused = await head("GET /v1/tasks HTTP/1.1", ...lines);
  assert.equal(refused.status, 401);
  assert.match(refused.text, /Access-Control-Allow-Origin: https:\/\/board\.example\r\n/);
});

test("a missing, wrong or malformed key gets a 401", async () => {
  const missing = await kit.call("/v1/tasks", bare);
  assertProblem(missing, 401, "unauthorized");
  assert.equal(missing.headers.get("www-authenticate"), 'Bearer realm="tutti"');
  for (const authorization of [
    `Basic ${kit.key}`,
    kit.key,
    `Bearer  ${kit.key}`,
    `Bearer ${kit.key} x`,
    `Bearer ${kit.key},`,
    "Bearer ",
    `Bearer ${"x".repeat(5_000)}`,
    `Bearer ${kit.key.slice(0, -1)}`,
  ]) {
    assertProblem(await kit.call("/v1/tasks", { headers: { authorization } }), 401, "unauthorized");
  }
  assert.equal((await kit.call("/v1/tasks", { headers: { authorization: `bEARER ${kit.key}` } })).status, 200);
  assertProblem(await kit.call(`/v1/tasks?key=${kit.key}`, bare), 401, "unauthorized");
  assertProblem(await kit.call(`/v1/tasks?agent=${kit.key}`), 401, "unauthorized");
});

test("a key whose role is too low gets a 403 on every route that needs a higher one", async () => {
  const rank = { viewer: 0, operator: 1, admin: 2 };
  for (const role of ["viewer", "operator"] as const) {
    const { key } = await kit.keys.add({ name: role, role });
    for (const [name, { method, path, access }] of Object.entries(routes)) {
      if (access !== "viewer" && access !== "operator" && access !== "admin") continue;
      if (rank[access] <= rank[role]) continue;
      const filled = path.replaceAll(/\{\w+\}/g, "tsk_x");
      const reply = await kit.call(filled, { method, headers: { authorization: `Bearer ${key}` } });
      assertProblem(reply, 403, "refused");
      assert.ok(!reply.text.includes(key), name);
    }
    assert.equal((await kit.call("/v1/tasks", { headers: { authorization: `Bearer ${key}` } })).status, 200);
  }
});

test(
  "wrong keys are answered with a delay, too many of them at once with 429; a good key never waits",
  { timeout: 240_000 },
  async (t) => {
    // Delays last until the test ends them, however slow the machine is.
    t.mock.timers.enable({ apis: ["setTimeout"] });
    const wrong = { headers: { authorization: `Bearer tk_${"w".repeat(43)}` } };
    const answered: number[] = [];
    const most = Promise.withResolvers<void>();
    const rush = Array.from({ length: 24 }, async () => {
      const reply = await kit.call("/v1/tasks", wrong);
      if (answered.push(reply.status) === 16) most.resolve();
      return reply;
    });
    await most.promise;
    assert.equal((await kit.call("/v1/tasks")).status, 200);
    assert.deepEqual(answered, Array(16).fill(429), "the others wait, and a good key does not");
    t.mock.timers.tick(2_000);
    const replies = await Promise.all(rush);
    assert.equal(replies.filter(({ status }) => status === 401).length, 8);
    assert.equal(replies.find(({ status }) => status === 429)?.headers.get("retry-after"), "2");
  },
);

test("an unknown path is a 404, a method that the path does not take is a 405", async () => {
  assertProblem(await kit.call("/v1/nothing"), 404, "not_found");
  assertProblem(await kit.call("/v1/tasks/"), 404, "not_found");
  const other = await kit.call("/v1/tasks", { method: "PUT" });
  assertProblem(other, 405, "usage");
  assert.equal(other.headers.get("allow"), "OPTIONS, GET, HEAD");
  const options = await kit.call("/v1/tasks", { method: "OPTIONS", ...bare });
  assert.equal(options.status, 204);
  assert.equal(options.headers.get("allow"), "OPTIONS, GET, HEAD");
});

test("HEAD gives the headers of GET and no body", async () => {
  const [get, headed] = [await kit.call(`/v1/tasks/${task}`), await kit.call(`/v1/tasks/${task}`, { method: "HEAD" })];
  assert.equal(headed.status, 200);
  assert.equal(headed.text, "");
  assert.equal(headed.headers.get("content-length"), String(Buffer.byteLength(get.text)));
  const stream = await kit.call("/v1/events", { method: "HEAD", headers: { accept: "text/event-stream" } });
  assert.equal(stream.status, 200);
  assert.match(stream.headers.get("content-type") ?? "", /^text\/event-stream/);
});

test("a query with an unknown name, a repeated name or an invalid value is refused", async () => {
  assertProblem(await kit.call("/v1/tasks?nope=1"), 422, "invalid_input");
  assertProblem(await kit.call("/v1/status?x=1"), 422, "invalid_input");
  assertProblem(await kit.call("/v1/tasks?limit=1&limit=2"), 400, "usage");
  for (const limit of ["0", "-1", "1e9", "x", "", "1.5", "NaN"]) {
    assertProblem(await kit.call(`/v1/tasks?limit=${limit}`), 422, "invalid_input");
  }
  assertProblem(await kit.call("/v1/tasks/nonsense"), 404, "not_found");
});

test("a boolean in a query is exactly true or false", async () => {
  for (const roots of ["true", "false"]) assert.equal((await kit.call(`/v1/tasks?roots=${roots}`)).status, 200, roots);
  for (const path of ["/v1/tasks?roots", "/v1/models?probe", "/v1/events?live", "/v1/invocations?anew"]) {
    const method = path.startsWith("/v1/invocations") ? "POST" : "GET";
    for (const value of ["", "1", "TRUE", "yes"]) {
      const reply = await kit.call(`${path}=${value}`, { method });
      assertProblem(reply, 422, "invalid_input");
      assert.match(String(reply.body?.["detail"]), /must be true or false/);
    }
  }
});

test("a JSON body must have its content type, be JSON, and fit the schema", async () => {
  const post = (body: string, type?: string) =>
    kit.call(`/v1/tasks/${task}/message`, {
      method: "POST",
      body,
      headers: type === undefined ? {} : { "content-type": type },
    });
  const good = '{"text":"hello"}';
  for (const type of [
    undefined,
    "text/plain",
    "application/x-www-form-urlencoded",
    "application/jsonx",
    "application/json; charset=latin1",
  ]) {
    assertProblem(await post(good, type), 415, "usage");
  }
  for (const type of ["application/json", "Application/JSON; charset=UTF-8"])
    assertProblem(await post(good, type), 409, "conflict");
  assertProblem(await post("{", "application/json"), 400, "usage");
  assertProblem(await post("", "application/json"), 400, "usage");
  assertProblem(await post('{"text":1}', "application/json"), 422, "invalid_input");
  assertProblem(await post('{"text":"x","more":1}', "application/json"), 422, "invalid_input");
  assertProblem(await post(`{"text":${"[".repeat(200)}${"]".repeat(200)}}`, "application/json"), 422, "invalid_input");
  assertProblem(await post('{"text":1e999}', "application/json"), 422, "invalid_input");
  const bytes = await kit.call(`/v1/tasks/${task}/message`, {
    method: "POST",
    body: new Uint8Array([0x22, 0xff, 0x22]),
    headers: { "content-type": "application/json" },
  });
  assertProblem(bytes, 400, "usage");
  const packed = await kit.call(`/v1/tasks/${task}/message`, { json: {}, headers: { "content-encoding": "gzip" } });
  assertProblem(packed, 415, "usage");
  assertProblem(await kit.call(`/v1/tasks/${task}/message`, { json: { text: "x" }, ...bare }), 401);
});

test("a body above its limit is refused, by its Content-Length unread, by its chunks when they exceed it", async () => {
  const huge = "x".repeat(3 * 1024 * 1024);
  const tell = `/v1/tasks/${task}/message`;
  assertProblem(await kit.call(tell, { json: { text: huge } }), 413, "too_large");
  const stream = new ReadableStream<Uint8Array>({
    start(controller) {
      for (let count = 0; count < 48; count += 1) controller.enqueue(Buffer.alloc(64 * 1024, 0x20));
      controller.close();
    },
  });
  const init = {
    method: "POST",
    body: stream,
    duplex: "half",
    headers: { "content-type": "application/json" },
  } as const;
  assertProblem(await kit.call(tell, init), 413, "too_large");
  const declared = await kit.raw(
    `POST ${tell} HTTP/1.1\r\nHost: 127.0.0.1:${kit.http.port}\r\nAuthorization: Bearer ${kit.key}\r\nContent-Type: application/json\r\nContent-Length: 99999999999\r\n\r\n`,
  );
  assert.match(declared, /^HTTP\/1\.1 413 /);
  assert.match(declared, /Connection: close/);
  // An invocation may be larger, so this body is read, and refused for its content.
  assertProblem(await kit.call("/v1/invocations", { json: { text: huge } }), 422, "invalid_input");
});

test("100 Continue is sent only when the body would be accepted", async () => {
  const ask = (length: number) =>
    [
      `POST /v1/tasks/${task}/message HTTP/1.1`,
      `Host: 127.0.0.1:${kit.http.port}`,
      `Authorization: Bearer ${kit.key}`,
      "Content-Type: application/json",
      `Content-Length: ${length}`,
      "Expect: 100-continue",
      "Connection: close",
    ].join("\r\n");
  assert.match(await kit.raw(`${ask(14)}\r\n\r\n{"text":"yes"}`), /^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 409 /);
  assert.match(await kit.raw(`${ask(9_999_999)}\r\n\r\n`), /^HTTP\/1\.1 413 /);
  assert.match(await kit.raw(`${ask(14).replace("100-continue", "tea")}\r\n\r\n`), /^HTTP\/1\.1 417 /);
});

test("an unexpected error is a 500 without details, and is logged", async (t) => {
  const { client } = kit.state;
  const secret = "the inside of the daemon";
  t.mock.method(client, "askPage", () => Promise.reject(new Error(secret)));
  t.mock.method(client, "waitPage", () => {
    throw new TypeError(secret);
  });
  for (const path of ["/v1/asks", "/v1/waits"]) {
    const reply = await kit.call(path);
    assertProblem(reply, 500, "internal");
    assert.ok(!reply.text.includes(secret));
  }
  assert.equal(errors.length, 2);
  t.mock.method(client, "askPage", () => Promise.reject(new TuttiError("disk_full", "the disk is full")));
  assertProblem(await kit.call("/v1/asks"), 507, "disk_full");
});

test("neither keys nor queries are logged", () => {
  const logged = JSON.stringify([warnings, errors]);
  assert.ok(warnings.length > 0);
  assert.ok(!logged.includes(kit.key) && !logged.includes("tk_") && !logged.includes("?"), logged.slice(0, 500));
});

test("a thousand requests on open connections leave no memory and no warnings behind", async (t) => {
  setFlagsFromString("--expose-gc");
  const collect: () => void = runInNewContext("gc");
  const warned: Error[] = [];
  const warn = (warning: Error): void => void warned.push(warning);
  process.on("warning", warn);
  t.after(() => process.off("warning", warn));
  const round = async (): Promise<number> => {
    for (let count = 0; count < 5; count += 1) {
      const paths = [`/v1/tasks/${task}`, `/v1/tasks/${task}/result?wait_ms=1`, "/v1/tasks?limit=1", "/v1/nothing"];
      await Promise.all(Array.from({ length: 100 }, (_, at) => kit.call(paths[at % paths.length] ?? "")));
    }
    collect();
    return process.memoryUsage().heapUsed;
  };
  // Code that is compiled meanwhile takes a megabyte once, at some point of the first rounds.
  for (let warm = 0; warm < 8; warm += 1) await round();
  const first = await round();
  const rest = [await round(), await round()];
  const grown = Math.min(...rest) - first;
  assert.ok(grown < 2 ** 20, `grew by ${grown} bytes`);
  assert.deepEqual(warned, []);
});
