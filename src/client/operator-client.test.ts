import assert from "node:assert/strict";
import { once } from "node:events";
import { describe, test, type TestContext } from "node:test";

import { type WebSocket, WebSocketServer } from "ws";

import { bodyOf, sendJson, sendProblem, wireServer } from "../../test/support/loopback-server.ts";
import type { TuttiError } from "../protocol/error.ts";
import { joinOperator, type OperatorConnection, type OperatorHandlers, operatorSocket } from "./operator-client.ts";

const sid = "op-00000000-0000-4000-8000-000000000001";
const token = `ot-${"a".repeat(32)}`;
const ticket = `ti-${"b".repeat(32)}`;
const reqId = (kind: string, number: number): string => `${sid}-${kind}-00000000-0000-4000-8000-00000000000${number}`;
const request = (kind: "ask" | "hb" | "spawn", number = 1): Record<string, unknown> => ({
  type: kind === "hb" ? "hook_before" : kind,
  req_id: reqId(kind, number),
  task_id: "tsk_s_1",
  ...(kind === "ask"
    ? { question: { question: "Which?" } }
    : { agent: "a", attempt: 1, ...(kind === "spawn" ? { capability_token: "tt1", directive: "launch" } : {}) }),
});

const infoOf = (connected: boolean): object => ({
  sid,
  roles: [],
  connected,
  pending: 0,
  joined_at: 0,
  last_seen: 0,
});

interface Desk {
  readonly url: string;
  /** The next connection. */
  connected(): Promise<{ socket: WebSocket; authorization: string | undefined; query: string; protocol: string }>;
  session: "there" | "gone" | "other";
}

/** The service's side of one operator session, played by hand. */
async function records(t: TestContext): Promise<Desk> {
  const sockets = new WebSocketServer({ noServer: true });
  const waiting: ((value: Awaited<ReturnType<Desk["connected"]>>) => void)[] = [];
  const made: Desk = {
    url: "",
    session: "there",
    connected: () => new Promise((resolve) => waiting.push(resolve)),
  };
  const { url, server } = await wireServer(t, async (given, response) => {
    if (given.method === "POST" && given.url === "/v1/operators")
      return sendJson(response, { sid, token, ...(JSON.parse(await bodyOf(given)) as object) });
    if (made.session === "gone") return sendProblem(response, { status: 404, code: "not_found", detail: "no session" });
    if (made.session === "other") return sendProblem(response, { status: 401, code: "unauthorized", detail: "no" });
    if (given.url?.endsWith("/ticket") === true) return sendJson(response, { ticket, expires_at: 1 });
    if (given.method === "DELETE") return void response.writeHead(204).end();
    sendJson(response, infoOf(sockets.clients.size > 0));
  });
  server.on("upgrade", (given, socket, head) => {
    if (made.session !== "there") return socket.end("HTTP/1.1 404 Not Found\r\n\r\n");
    sockets.handleUpgrade(given, socket, head, (opened) => {
      const query = new URL(given.url ?? "", "http://x").search;
      waiting.shift()?.({
        socket: opened,
        authorization: given.headers.authorization,
        query,
        protocol: opened.protocol,
      });
    });
  });
  t.after(() => {
    for (const socket of sockets.clients) socket.terminate();
  });
  return Object.assign(made, { url });
}

function connect(t: TestContext, { url }: Desk, handlers: OperatorHandlers): OperatorConnection {
  const operator = operatorSocket({ url, sid, token, handlers });
  t.after(() => operator.close());
  return operator;
}

async function next(socket: WebSocket): Promise<unknown> {
  const [data] = (await once(socket, "message")) as [Buffer];
  return JSON.parse(data.toString());
}

describe("an operator", () => {
  test("joins with its roles, connects with its token and the subprotocol, and replies to each kind of request", async (t) => {
    const service = await records(t);
    assert.deepEqual(await joinOperator({ url: service.url, key: "tk_x", roles: ["senior"] }), {
      sid,
      token,
      roles: ["senior"],
    });
    const informed = Promise.withResolvers<unknown>();
    const opened = service.connected();
    connect(t, service, {
      ask: ({ question }) => ({ heard: question }),
      hookBefore: () => ({ ok: false, reason: "not today" }),
      hookAfter: ({ result }) => informed.resolve(result),
      spawn: async () => undefined,
    });
    const { socket, authorization, protocol } = await opened;
    assert.deepEqual([authorization, protocol], [`Bearer ${token}`, "tutti.v1"]);
    const wanted = {
      ask: { type: "answer", req_id: reqId("ask", 1), value: { heard: { question: "Which?" } } },
      hb: { type: "hook_ack", req_id: reqId("hb", 1), ok: false, reason: "not today" },
      spawn: { type: "spawn_ack", req_id: reqId("spawn", 1), value: {}, ok: true },
    } as const;
    for (const kind of ["ask", "hb", "spawn"] as const) {
      socket.send(JSON.stringify(request(kind)));
      assert.deepEqual(await next(socket), wanted[kind]);
    }
    socket.send(JSON.stringify({ ...request("hb"), type: "hook_after", result: 7 }));
    assert.equal(await informed.promise, 7);
  });

  test("when a handler throws, a gated task is refused, a spawn fails, and a question stays open", async (t) => {
    const service = await records(t);
    const opened = service.connected();
    const errors: string[] = [];
    const fail = (): never => {
      throw new Error("broken");
    };
    const asked = Promise.withResolvers<void>();
    let asks = 0;
    connect(t, service, {
      ask() {
        asks += 1;
        if (asks === 1) return fail();
        asked.resolve();
        return "now";
      },
      hookBefore: fail,
      spawn: fail,
      onError: ({ message }) => errors.push(message),
    });
    const { socket } = await opened;
    socket.send(JSON.stringify(request("ask")));
    socket.send(JSON.stringify(request("hb")));
    assert.deepEqual(await next(socket), { type: "hook_ack", req_id: reqId("hb", 1), ok: false, reason: "broken" });
    socket.send(JSON.stringify(request("spawn")));
    assert.partialDeepStrictEqual(await next(socket), { type: "spawn_ack", ok: false, error: "broken" });
    socket.send(JSON.stringify({ ...request("ask"), redelivered: true }));
    await asked.promise;
    assert.deepEqual(errors, ["broken", "broken", "broken"]);
  });

  test("without handlers, tasks and spawns are refused at once and questions are left to others", async (t) => {
    const service = await records(t);
    const opened = service.connected();
    connect(t, service, {});
    const { socket } = await opened;
    socket.send(JSON.stringify(request("ask")));
    socket.send(JSON.stringify(request("hb")));
    assert.partialDeepStrictEqual(await next(socket), { type: "hook_ack", ok: false });
    socket.send(JSON.stringify(request("spawn")));
    assert.partialDeepStrictEqual(await next(socket), { type: "spawn_ack", ok: false });
  });

  test("handles a request once, however often it is delivered, and replies on its current connection", async (t) => {
    const service = await records(t);
    const first = service.connected();
    const launched: string[] = [];
    const done = Promise.withResolvers<undefined>();
    const errors: TuttiError[] = [];
    connect(t, service, {
      spawn({ req_id }) {
        launched.push(req_id);
        return done.promise;
      },
      onError: (error) => errors.push(error),
    });
    const one = (await first).socket;
    one.send(JSON.stringify(request("spawn")));
    one.send(JSON.stringify(request("spawn")));
    const second = service.connected();
    one.terminate();
    const two = (await second).socket;
    two.send(JSON.stringify({ ...request("spawn"), redelivered: true }));
    const answered = next(two);
    done.resolve(undefined);
    const reply = await answered;
    assert.deepEqual(reply, { type: "spawn_ack", req_id: reqId("spawn", 1), value: {}, ok: true });
    // The answer may have been lost with the connection it went over: the next one gets it again, unasked.
    const third = service.connected();
    two.terminate();
    const three = (await third).socket;
    assert.deepEqual(await next(three), reply);
    three.send(
      JSON.stringify({ type: "error", req_id: reqId("spawn", 1), code: "already_answered", message: "it has one" }),
    );
    three.send(JSON.stringify({ ...request("spawn"), redelivered: true }));
    assert.deepEqual(await next(three), reply);
    assert.equal(launched.length, 1);
    assert.deepEqual(
      errors.filter(({ code }) => code === "refused"),
      [],
    );
  });

  test("reports replies that the service refuses", async (t) => {
    const service = await records(t);
    const opened = service.connected();
    const told = Promise.withResolvers<TuttiError>();
    connect(t, service, { onError: told.resolve });
    const { socket } = await opened;
    socket.send(JSON.stringify({ type: "error", req_id: "r", code: "late", message: "too late" }));
    const { code, message, details } = await told.promise;
    assert.deepEqual(
      { code, message, details },
      { code: "refused", message: "too late", details: { code: "late", req_id: "r" } },
    );
  });

  test("stops when another connection replaces it, when the session has ended, and when it is refused", async (t) => {
    const service = await records(t);
    for (const [code, end] of [
      [4001, "replaced"],
      [1000, "left"],
    ] as const) {
      const opened = service.connected();
      const operator = connect(t, service, {});
      (await opened).socket.close(code);
      assert.equal(await operator.ended, end);
    }
    service.session = "gone";
    assert.equal(await connect(t, service, {}).ended, "left");
    service.session = "other";
    assert.equal(await connect(t, service, {}).ended, "refused");
  });

  test("`close` keeps the session and `leave` ends it; both end the connection for good", async (t) => {
    const service = await records(t);
    for (const how of ["close", "leave"] as const) {
      const opened = service.connected();
      const operator = connect(t, service, {});
      const { socket } = await opened;
      socket.send(JSON.stringify(request("hb")));
      await next(socket);
      const closed = once(socket, "close");
      await operator[how]();
      assert.equal((await closed)[0], 1000);
      assert.equal(await operator.ended, "closed");
      assert.equal(operator.connected, false);
    }
  });

  test("reconnects when the service no longer sees it, although its socket still looks open", async (t) => {
    const service = await records(t);
    const opened = service.connected();
    const answers = [true, false];
    const operator = operatorSocket({
      url: service.url,
      sid,
      token,
      checkMs: 20,
      handlers: {},
      fetch: async () => Response.json(infoOf(answers.shift() ?? true)),
    });
    t.after(() => operator.close());
    const first = (await opened).socket;
    const again = service.connected();
    await once(first, "close");
    await again;
  });

  test("uses a ticket where the WebSocket takes no headers, as in a browser", async (t) => {
    const service = await records(t);
    const { undici } = process.versions;
    Object.defineProperty(process.versions, "undici", { value: undefined, configurable: true });
    t.after(() => Object.defineProperty(process.versions, "undici", { value: undici, configurable: true }));
    const opened = service.connected();
    connect(t, service, {});
    const { authorization, query } = await opened;
    assert.deepEqual([authorization, query], [undefined, `?ticket=${ticket}`]);
  });
});
