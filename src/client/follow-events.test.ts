import assert from "node:assert/strict";
import type { IncomingMessage, ServerResponse } from "node:http";
import { describe, test } from "node:test";

import fc from "../../test/support/properties.ts";

import { sendProblem, wireServer } from "../../test/support/loopback-server.ts";
import { TuttiError } from "../protocol/error.ts";
import type { TaskEvent } from "../protocol/task/event.ts";
import type { EventOrDelta } from "./client.ts";
import { httpClient } from "./http-client.ts";

const task = "tsk_s_1";
const event = (seq: number): TaskEvent => ({ seq, at: 0, task, root: task, type: "task.resumed", data: {} });
const frame = (seq: number): string => `id: ${seq}\ndata: ${JSON.stringify(event(seq))}\n\n`;
const end = (value: object): string => `event: end\ndata: ${JSON.stringify(value)}\n\n`;
const seqs = (received: readonly EventOrDelta[]): number[] =>
  received.flatMap((each) => ("event" in each ? [each.event.seq] : []));
const options = { key: "tk_x", giveUpAfterMs: 10_000, silenceMs: 5_000 };

/** What a connection does: how many events it sends, and how it ends. */
interface Cut {
  readonly many: number;
  readonly how: "drop" | "half" | "shed" | "stop" | "busy" | "close" | "again";
}

const cut = fc.record<Cut>({
  many: fc.nat(4),
  how: fc.constantFrom("drop", "half", "shed", "stop", "busy", "close", "again"),
});

function play(
  request: IncomingMessage,
  response: ServerResponse,
  { last, cut: next }: { last: number; cut?: Cut },
): void {
  const after = Number(request.headers["last-event-id"] ?? 0);
  if (next?.how === "busy") return sendProblem(response, { status: 503, code: "stopped", detail: "going away" });
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.write(": hello\n\n");
  const until = Math.min(last, after + (next?.many ?? last));
  // A server that repeats events changes nothing: the client drops those it has seen.
  for (let seq = next?.how === "again" ? Math.max(1, after - 1) : after + 1; seq <= until; seq += 1) {
    response.write(frame(seq));
  }
  switch (next?.how) {
    case undefined:
      return void response.end(end({ reason: "settled", after: last }));
    case "drop":
      return void setImmediate(() => response.destroy());
    case "half":
      return void response.write(`id: ${until + 1}\ndata: {"seq":`, () => response.destroy());
    case "shed":
      return void response.end(end({ reason: "shed", after: until + 7 }));
    case "stop":
      return void response.end(
        end({ reason: "error", after: until, error: { code: "stopped", message: "stopping", retry: "safe" } }),
      );
    default:
      return void response.end();
  }
}

describe("following over HTTP", () => {
  test("invariant 9: however the connections end, every event comes once and in order", async (t) => {
    let script: Cut[] = [];
    let last = 0;
    const { url } = await wireServer(t, (request, response) => {
      const next = script.shift();
      play(request, response, { last, ...(next === undefined ? {} : { cut: next }) });
    });
    const client = httpClient({ url, ...options });
    await fc.assert(
      fc.asyncProperty(fc.array(cut, { maxLength: 4 }), fc.nat(12), async (cuts, many) => {
        script = [...cuts];
        last = many;
        const received: EventOrDelta[] = [];
        for await (const each of client.follow({ task })) received.push(each);
        assert.deepEqual(
          seqs(received),
          Array.from({ length: many }, (_, index) => index + 1),
        );
      }),
      { numRuns: 25 },
    );
  });

  test("begins after a given event, asks for deltas only when wanted, and ignores unknown kinds of events", async (t) => {
    const delta = { task, root: task, attempt: 1, run: 1, key: "k", channel: "text", text: "hm", offset: 0 };
    const asked: string[] = [];
    const { url } = await wireServer(t, (request, response) => {
      asked.push(`${request.url} ${String(request.headers["last-event-id"])} ${request.headers.accept}`);
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(`event: live\ndata: ${JSON.stringify(delta)}\n\nevent: weather\ndata: rain\n\n${frame(8)}`);
      response.end(end({ reason: "settled", after: 8 }));
    });
    const received: EventOrDelta[] = [];
    for await (const each of httpClient({ url, ...options }).follow({ task, after: 7, live: true }))
      received.push(each);
    assert.deepEqual(received, [{ live: delta }, { event: event(8) }]);
    assert.deepEqual(asked, [`/v1/tasks/${task}/events?after=7&live=true 7 text/event-stream`]);
  });

  test("ends without an error when its signal is aborted, also while the service is away", async (t) => {
    const { url, server } = await wireServer(t, (_, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" }).write(frame(1));
    });
    for (const away of [false, true]) {
      const stop = new AbortController();
      const received: EventOrDelta[] = [];
      for await (const each of httpClient({ url, ...options }).follow({ signal: stop.signal })) {
        received.push(each);
        if (away) server.closeAllConnections();
        setTimeout(() => stop.abort(), away ? 60 : 0);
      }
      assert.deepEqual([...new Set(seqs(received))], [1]);
    }
  });

  test("fails with `unreachable` when the service stays away too long", async (t) => {
    const { url, server } = await wireServer(t, (_, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" }).write(frame(1));
    });
    const began = Date.now();
    await assert.rejects(
      async () => {
        for await (const _ of httpClient({ url, ...options, giveUpAfterMs: 400 }).follow({})) {
          server.close();
          server.closeAllConnections();
        }
      },
      (thrown) => thrown instanceof TuttiError && thrown.code === "unreachable" && thrown.message.includes(url),
    );
    assert.ok(Date.now() - began < 5_000);
  });

  test("fails at once for an unknown task, an unknown key, or a reply of another version", async (t) => {
    const { url } = await wireServer(t, (request, response) => {
      if (request.url?.includes("tsk_none") === true)
        return sendProblem(response, { status: 404, code: "not_found", detail: "there is no task tsk_none" });
      if (request.headers.authorization === "Bearer bad")
        return sendProblem(response, { status: 401, code: "unauthorized", detail: "there is no such key" });
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.end('data: {"seq":1,"type":"task.flew"}\n\n');
    });
    const following = async (key: string, id: string): Promise<void> => {
      for await (const _ of httpClient({ url, ...options, key }).follow({ task: id })) assert.fail("no event comes");
    };
    const coded = (code: string) => (thrown: unknown) => thrown instanceof TuttiError && thrown.code === code;
    await assert.rejects(following("tk_x", "tsk_none"), coded("not_found"));
    await assert.rejects(following("bad", task), coded("unauthorized"));
    await assert.rejects(following("tk_x", task), coded("newer"));
  });

  test("closes the connection when the caller stops reading", async (t) => {
    const gone = Promise.withResolvers<void>();
    const { url } = await wireServer(t, (request, response) => {
      request.on("close", gone.resolve);
      response.writeHead(200, { "content-type": "text/event-stream" }).write(frame(1));
    });
    for await (const _ of httpClient({ url, ...options }).follow({})) break;
    await gone.promise;
  });
});
