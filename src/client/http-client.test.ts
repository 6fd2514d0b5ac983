import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { bodyOf, sendJson, sendProblem, wireServer } from "../../test/support/loopback-server.ts";
import { type ErrorCode, TuttiError } from "../protocol/error.ts";
import { httpClient } from "./http-client.ts";

const key = "tk_key";
const task = "tsk_s_1";
const coded = (code: ErrorCode, message?: RegExp) => (thrown: unknown) =>
  thrown instanceof TuttiError && thrown.code === code && (message === undefined || message.test(thrown.message));

describe("requests", () => {
  test("are made from the route table: method, path, query, headers and body, with the key as bearer", async (t) => {
    const seen: unknown[] = [];
    const { url } = await wireServer(t, async (request, response) => {
      const { method, headers } = request;
      seen.push({ method, url: request.url, type: headers["content-type"], body: await bodyOf(request) });
      assert.equal(headers.authorization, `Bearer ${key}`);
      if (request.url?.startsWith("/v1/tasks?") === true) return sendJson(response, { tasks: [], next: null });
      if (request.url?.endsWith("/cancel") === true) return sendJson(response, { canceled: [task] });
      if (request.url?.endsWith("/message") === true) return sendJson(response, { told: true, task }, 202);
      if (method === "DELETE") return void response.writeHead(204).end();
      sendJson(response, { asks: [], next: null });
    });
    const client = httpClient({ url: `${url}/`, key });
    assert.equal(client.url, url);
    assert.deepEqual(await client.tasks({ limit: 5, status: "failed" }), { tasks: [], next: null });
    assert.deepEqual(await client.asks(), []);
    assert.deepEqual(await client.asks(task), []);
    assert.deepEqual(await client.cancel(task, "enough"), [task]);
    assert.equal(await client.sendMessage(task, "hello"), task);
    await client.revokeKey("a/b");
    assert.deepEqual(seen, [
      { method: "GET", url: "/v1/tasks?limit=5&status=failed", type: undefined, body: "" },
      { method: "GET", url: "/v1/asks", type: undefined, body: "" },
      { method: "GET", url: `/v1/asks?task=${task}`, type: undefined, body: "" },
      { method: "POST", url: `/v1/tasks/${task}/cancel`, type: "application/json", body: '{"reason":"enough"}' },
      { method: "POST", url: `/v1/tasks/${task}/message`, type: "application/json", body: '{"text":"hello"}' },
      { method: "DELETE", url: "/v1/keys/a%2Fb", type: undefined, body: "" },
    ]);
  });

  test("an invocation is sent byte for byte as it was written, with its folder and idempotency key", async (t) => {
    const text = '{ "invocation" : {"targets":[ ]},\n  "roots":["ö"] }\n';
    const { url } = await wireServer(t, async (request, response) => {
      assert.equal(await bodyOf(request), text);
      assert.equal(request.url, "/v1/invocations?folder=%2Fa+b&anew=true");
      assert.equal(request.headers["idempotency-key"], "once");
      sendJson(response, { task, existed: false, warnings: ["hm"] }, 201);
    });
    const client = httpClient({ url, key });
    const started = await client.invoke(text, { folder: "/a b", anew: true, key: "once" });
    assert.deepEqual(started, { task, existed: false, warnings: ["hm"] });
    await assert.rejects(client.invoke("{", { folder: "/" }), coded("invalid_input", /cannot be used: is not JSON/));
  });
});

test("events are read in as many pages as the limit of the caller needs", async (t) => {
  const asked: string[] = [];
  const { url } = await wireServer(t, (request, response) => {
    asked.push(request.url ?? "");
    sendJson(response, { events: [], next: asked.length < 2 ? 1_000 : null });
  });
  assert.deepEqual(await httpClient({ url, key }).events({ after: 0, limit: 5_000 }), []);
  assert.deepEqual(asked, ["/v1/events?after=0&limit=1000", "/v1/events?after=1000&limit=1000"]);
});

describe("failures", () => {
  test("a problem document becomes the error it was in the service: code, message, retry, details", async (t) => {
    const { url } = await wireServer(t, (_, response) =>
      sendProblem(response, {
        status: 409,
        code: "over_budget",
        detail: "the money is gone",
        retry: "safe",
        details: { limit: 3 },
      }),
    );
    await assert.rejects(httpClient({ url, key }).status(), (thrown) => {
      assert.ok(thrown instanceof TuttiError);
      const { code, message, retry, details } = thrown;
      assert.deepEqual(
        { code, message, retry, details },
        {
          code: "over_budget",
          message: "the money is gone",
          retry: "safe",
          details: { limit: 3 },
        },
      );
      return true;
    });
  });

  test("no service, no reply or a redirect give `unreachable`, with the address and what to do", async (t) => {
    const arrived = Promise.withResolvers<void>();
    const { url, server } = await wireServer(t, (request, response) => {
      if (request.url === "/v1/status") return arrived.resolve();
      response.writeHead(302, { location: "http://127.0.0.1:1/" }).end();
    });
    const client = httpClient({ url, key });
    await assert.rejects(client.keys(), coded("unreachable"));
    const hung = assert.rejects(client.status(), coded("unreachable"));
    await arrived.promise;
    server.closeAllConnections();
    await hung;
    await new Promise((resolve) => server.close(resolve));
    await assert.rejects(client.status(), coded("unreachable", new RegExp(`no reply from ${url}: .*tutti status`)));
  });

  test("a reply of an unknown shape gives `newer`; an error without a problem document is judged by its status", async (t) => {
    const { url } = await wireServer(t, (request, response) => {
      if (request.url === "/v1/keys") return sendJson(response, { keys: [{ colour: "blue" }] });
      if (request.url === "/v1/operators") return void response.writeHead(200).end("<html>");
      response.writeHead(Number(request.url?.slice(request.url.lastIndexOf("_") + 1))).end("<html>");
    });
    const client = httpClient({ url, key });
    await assert.rejects(client.keys(), coded("newer", /same version on both sides/));
    await assert.rejects(client.operators(), coded("newer"));
    const wanted = { 401: "unauthorized", 404: "not_found", 429: "slow_down", 502: "unreachable", 418: "refused" };
    for (const [status, code] of Object.entries(wanted)) {
      await assert.rejects(
        client.task(`tsk_s_${status}`),
        (thrown) => thrown instanceof TuttiError && thrown.code === code,
      );
    }
  });

  test("a malformed address is refused before anything is sent", () => {
    for (const url of ["", "127.0.0.1:1", "ftp://x", "http://x/?a=1"]) {
      assert.throws(() => httpClient({ url, key }), coded("usage"), url);
    }
  });
});

describe("answers", () => {
  test("that are accepted, late, unknown or invalid are values; any other failure is thrown", async (t) => {
    const refusals: Record<string, { status: number; code: string }> = {
      ask_late: { status: 409, code: "conflict" },
      ask_none: { status: 404, code: "not_found" },
      ask_odd: { status: 422, code: "invalid_input" },
      ask_not: { status: 403, code: "refused" },
    };
    const { url } = await wireServer(t, async (request, response) => {
      const refusal = refusals[request.url?.slice(request.url.lastIndexOf("/") + 1) ?? ""];
      if (refusal !== undefined) return sendProblem(response, { ...refusal, detail: "because" });
      const body: unknown = JSON.parse(await bodyOf(request));
      assert.deepEqual(
        body,
        request.url?.startsWith("/v1/asks") === true ? { kind: "approval", approved: true } : { value: [1] },
      );
      sendJson(response, { accepted: true });
    });
    const client = httpClient({ url, key });
    const by = { kind: "person", name: "me" } as const;
    const yes = { kind: "approval", approved: true };
    assert.deepEqual(await client.answer("ask_s_1", yes, by), { accepted: true });
    assert.deepEqual(await client.settle("ask_s_1", [1], by), { accepted: true });
    for (const [ask, code] of Object.entries({ ask_late: "late", ask_none: "unknown", ask_odd: "invalid" })) {
      assert.deepEqual(await client.answer(ask, yes, by), { accepted: false, code, message: "because" });
      assert.deepEqual(await client.settle(ask, 1, by), { accepted: false, code, message: "because" });
    }
    assert.partialDeepStrictEqual(await client.answer("ask_s_1", "yes", by), { accepted: false, code: "invalid" });
    await assert.rejects(client.answer("ask_not", yes, by), coded("refused", /^because$/));
  });
});

describe("results", () => {
  test("are waited for with as many requests as it takes, also over a restart of the service", async (t) => {
    let calls = 0;
    const { url } = await wireServer(t, (request, response) => {
      calls += 1;
      assert.equal(request.url, `/v1/tasks/${task}/result?wait_ms=30000`);
      if (calls === 1) return sendJson(response, { ended: false, status: "running" }, 202);
      if (calls === 2) return void response.destroy();
      if (calls === 3) return sendProblem(response, { status: 503, code: "stopped", detail: "stopping" });
      const result = { task_id: task, status: "completed", content: "done" };
      sendJson(response, { ended: true, settled: false, result });
    });
    assert.partialDeepStrictEqual(await httpClient({ url, key }).result(task), {
      status: "completed",
      content: "done",
    });
    assert.equal(calls, 4);
  });

  test("waiting ends when its signal is aborted and when the client is closed", async (t) => {
    const { url } = await wireServer(t, () => undefined);
    const client = httpClient({ url, key });
    const stop = new AbortController();
    const waiting = assert.rejects(client.result(task, stop.signal), { name: "AbortError" });
    stop.abort();
    await waiting;
    const left = assert.rejects(client.settled(task), { name: "AbortError" });
    await client.close();
    await left;
  });
});
