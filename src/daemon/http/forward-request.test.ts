import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type IncomingMessage, request, type RequestListener, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type TestContext, test } from "node:test";

import { until } from "../../../test/support/wait-until.ts";
import { forwardedHeader, forwardRequest } from "./forward-request.ts";
import { sendError } from "./reply.ts";

async function serve(t: TestContext, listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

interface Front {
  readonly answerMs?: number;
  readonly maxBodyBytes?: number;
}

/** A node that passes everything on to another one. */
async function frontOf(t: TestContext, url: string, { answerMs = 10_000, maxBodyBytes = 1_000 }: Front = {}) {
  const { signal } = new AbortController();
  return serve(t, (incoming, response) => {
    const forwarding = forwardRequest(
      incoming,
      response,
      {
        base: new URL(url),
        agent: undefined,
        headersFor: ({ method, path }) => ({ "tutti-node": `front ${method} ${path}` }),
      },
      { signal, maxBodyBytes, answerMs },
    );
    forwarding.then(
      (error) => error !== undefined && sendError(incoming, response, error),
      () => response.destroy(),
    );
  });
}

test("a request and its reply are passed on as they come, without the headers of the connection", async (t) => {
  const seen: IncomingMessage[] = [];
  const back = await serve(t, (incoming, response) => {
    seen.push(incoming);
    response.writeHead(201, { "content-type": "text/plain", "x-own": "kept" });
    // Each piece is answered before the next one is sent.
    incoming.on("data", (piece: Buffer) => response.write(`got ${piece.toString()};`));
    incoming.on("end", () => response.end("end"));
  });
  const front = await frontOf(t, back);
  const sent = request(`${front}/v1/worker/events?a=1`, {
    method: "POST",
    headers: { authorization: "Bearer secret", "keep-alive": "timeout=9" },
  });
  const replied = once(sent, "response") as Promise<[IncomingMessage]>;
  sent.write("one");
  const [reply] = await replied;
  assert.deepEqual([reply.statusCode, reply.headers["x-own"]], [201, "kept"]);
  let text = "";
  reply.on("data", (piece: Buffer) => (text += piece.toString()));
  await until(() => text === "got one;", "the first piece is answered");
  sent.write("two");
  await until(() => text === "got one;got two;", "the second piece is answered");
  sent.end();
  await once(reply, "end");
  assert.equal(text, "got one;got two;end");
  const { method, url, headers } = seen[0] ?? assert.fail();
  assert.deepEqual([method, url], ["POST", "/v1/worker/events?a=1"]);
  assert.deepEqual(
    [headers.authorization, headers["keep-alive"], headers["tutti-node"], headers[forwardedHeader], headers.host],
    ["Bearer secret", undefined, "front POST /v1/worker/events?a=1", "1", new URL(back).host],
  );
});

test("what was passed on once is not passed on again, so two nodes never send it to and fro", async (t) => {
  let calls = 0;
  const back = await serve(t, (_, response) => {
    calls += 1;
    response.end();
  });
  const front = await frontOf(t, back);
  const reply = await fetch(front, { headers: { [forwardedHeader]: "1" } });
  assert.deepEqual([reply.status, calls], [503, 0]);
});

test("a node that is gone or silent is an error that says to ask again, and a long body is refused", async (t) => {
  const nobody = await serve(t, () => undefined);
  const silent = await frontOf(t, nobody, { answerMs: 50 });
  assert.equal((await fetch(silent)).status, 502);
  const gone = await frontOf(t, "http://127.0.0.1:1");
  const reply = await fetch(gone);
  assert.equal(reply.status, 502);
  assert.match(await reply.text(), /ask again soon/);

  const back = await serve(t, (incoming: IncomingMessage, response: ServerResponse) => {
    incoming.resume();
    incoming.on("end", () => response.end("read"));
  });
  const front = await frontOf(t, back, { maxBodyBytes: 10 });
  const post = (body: string | ReadableStream): Promise<Response> =>
    fetch(front, { method: "POST", body, duplex: "half" } as RequestInit);
  assert.equal(await (await post("0123456789")).text(), "read");
  assert.equal((await post("0123456789a")).status, 413);
  const unmeasured = new Blob(["0123456789", "0123456789"]).stream();
  assert.equal((await post(unmeasured)).status, 413);
});

test("a caller that hangs up ends the request to the other node, and no path leads anywhere else", async (t) => {
  let ended = false;
  let reached = "";
  const back = await serve(t, (incoming, response) => {
    reached = incoming.url ?? "";
    response.on("close", () => (ended = true));
    response.write("begun");
  });
  const elsewhere = await serve(t, (_, response) => response.end("never"));
  const front = await frontOf(t, back);
  const stop = new AbortController();
  const reply = await fetch(front, { signal: stop.signal });
  assert.equal(reply.status, 200);
  stop.abort();
  await until(() => ended, "the other node is told");

  reached = "";
  const { hostname, port } = new URL(front);
  const sent = request({ hostname, port, path: `//${new URL(elsewhere).host}/v1/status` });
  sent.end();
  const [answer] = (await once(sent, "response")) as [IncomingMessage];
  answer.resume();
  assert.notEqual(answer.statusCode, 200);
  assert.equal(reached, "");
});
