import assert from "node:assert/strict";
import { connect, type Socket } from "node:net";
import { after, before, test } from "node:test";

import fc from "../../../test/support/properties.ts";
import { z } from "zod";

import { type SentEvent, readEventStream } from "../../client/read-event-stream.ts";
import type { Durable } from "../../ports.ts";
import { StreamEnd } from "../../protocol/api/task-shapes.ts";
import { TaskEvent } from "../../protocol/task/event.ts";
import type { TaskId } from "../../protocol/ids.ts";
import { userMessage } from "../../protocol/task/message.ts";
import { type Kit, openKit } from "../../../test/support/http-kit.ts";
import { lateView } from "../../../test/support/late-view.ts";
import { until } from "../../../test/support/wait-until.ts";

let kit: Kit;
const wait = z.unknown();

/** Repeats every message it gets, starts a child on `child`, and ends on `stop`. */
async function talk(durable: Durable): Promise<string> {
  for (let turn = 0; ; turn += 1) {
    const heard = await durable.receive(`hear.${turn}`, { block: true });
    const [part] = heard?.parts ?? [];
    const text = part?.part_type === "text" ? part.data : "";
    if (text === "stop") return "stopped";
    if (text === "child") {
      const child = { runner: { kind: "loop", config: {} }, agent: "child", input: null, rights: durable.rights };
      await durable.spawn(`spawn.${turn}`, [{ ...child, detached: true }]);
    }
    durable.say(`say.${turn}`, userMessage(text));
    await durable.step(`step.${turn}`, { repeatable: true, schema: wait }, () => null);
  }
}

before(async () => {
  kit = await openKit({
    runners: { loop: talk },
    http: { streamLimits: { bufferBytes: 256 * 1024, heartbeatMs: 200, stallMs: 30_000, endMs: 30_000 } },
  });
});
after(() => kit.close());

const start = (): Promise<TaskId> => kit.start({ agent: "talker", budget: { concurrency: 64 } });
const tell = (task: TaskId, text: string): Promise<TaskId> => kit.state.client.sendMessage(task, text);

interface Reading {
  readonly status: number;
  readonly got: readonly SentEvent[];
  /** Resolves when `enough` holds for the events so far, or the stream has ended. */
  until(enough: (got: readonly SentEvent[]) => boolean): Promise<void>;
  readonly over: Promise<void>;
  stop(): void;
}

async function open(
  path: string,
  headers: Record<string, string> = {},
  { url, key }: { readonly url: string; readonly key: string } = { url: kit.http.url, key: kit.key },
): Promise<Reading> {
  const controller = new AbortController();
  const response = await fetch(`${url}${path}`, {
    headers: { authorization: `Bearer ${key}`, accept: "text/event-stream", ...headers },
    signal: controller.signal,
  });
  const got: SentEvent[] = [];
  const waiting = new Set<() => void>();
  const look = (): void => waiting.forEach((check) => check());
  const read = async (): Promise<void> => {
    if (response.status !== 200 || response.body === null) return;
    for await (const event of readEventStream(response.body, { silenceMs: 20_000, onBytes() {} })) {
      got.push(event);
      look();
    }
  };
  let done = false;
  const over = read()
    .catch(() => {})
    .finally(() => {
      done = true;
      look();
    });
  return {
    status: response.status,
    got,
    until: (enough) =>
      new Promise((resolve) => {
        const check = (): void => {
          if (!done && !enough(got)) return;
          waiting.delete(check);
          resolve();
        };
        waiting.add(check);
        check();
      }),
    over,
    stop: () => controller.abort(),
  };
}

const kept = (got: readonly SentEvent[]): TaskEvent[] =>
  got.filter(({ event }) => event === "message").map(({ data }) => TaskEvent.parse(JSON.parse(data)));
const seqs = (got: readonly SentEvent[]): number[] => kept(got).map(({ seq }) => seq);
const endOf = (got: readonly SentEvent[]): StreamEnd | undefined => {
  const last = got.at(-1);
  return last?.event === "end" ? StreamEnd.parse(JSON.parse(last.data)) : undefined;
};
/** The last event of all that is committed, when whoever follows the events has been told of it. */
const position = async (): Promise<number> => {
  const { view, feed } = kit.state;
  await view.lastEvent();
  await until(async () => (await view.eventsAfter({ after: feed.position, limit: 1 })).rows.length === 0);
  return feed.position;
};
const stored = async (after = 0, task?: TaskId): Promise<number[]> => {
  await position();
  const { events } = await kit.state.feed.read({ after, limit: 100_000, ...(task === undefined ? {} : { task }) });
  return events.map(({ event }) => event.seq);
};

test("a stream catches up, follows new events, and ends when the task and its descendants have ended", async () => {
  const task = await start();
  await tell(task, "one");
  const reading = await open(`/v1/tasks/${task}/events`);
  await tell(task, "child");
  await reading.until((got) => kept(got).some(({ type, task: of }) => type === "task.created" && of !== task));
  const child = kept(reading.got).find(({ type, task: of }) => type === "task.created" && of !== task)?.task ?? "";
  await tell(task, "stop");
  await reading.until((got) => kept(got).some(({ type }) => type === "task.completed"));
  assert.equal(endOf(reading.got), undefined, "a detached child is still running");
  await tell(child, "stop");
  await reading.over;
  assert.deepEqual(seqs(reading.got), await stored(0, task));
  assert.deepEqual(endOf(reading.got), { reason: "settled", after: seqs(reading.got).at(-1) });
  for (const { event, id, data } of reading.got)
    if (event === "message") assert.equal(id, String(JSON.parse(data).seq));
});

test("the stream of a child task has only its subtree, with tasks created later, and ends with it", async () => {
  const root = await start();
  const whole = await open(`/v1/tasks/${root}/events`);
  await tell(root, "child");
  const created = (got: readonly SentEvent[]) => kept(got).filter(({ type }) => type === "task.created");
  await whole.until((got) => created(got).length === 2);
  const middle = created(whole.got)[1]?.task ?? "";
  const part = await open(`/v1/events?task=${middle}`);
  await tell(middle, "child");
  await whole.until((got) => created(got).length === 3);
  const leaf = created(whole.got)[2]?.task ?? "";
  await tell(root, "not of the part");
  await tell(leaf, "stop");
  await tell(middle, "stop");
  await part.over;
  assert.deepEqual(new Set(kept(part.got).map(({ task }) => task)), new Set([middle, leaf]));
  assert.deepEqual(seqs(part.got), await stored(0, middle));
  assert.equal(endOf(part.got)?.reason, "settled");
  await tell(root, "stop");
  await whole.over;
  assert.deepEqual(seqs(whole.got), await stored(0, root));
});

test("the stream of a finished subtree sends all its events and ends; read from its end, only the end", async () => {
  const task = await start();
  await tell(task, "stop");
  await kit.state.client.settled(task);
  const first = await open(`/v1/tasks/${task}/events`);
  await first.over;
  assert.deepEqual(seqs(first.got), await stored(0, task));
  const last = String(seqs(first.got).at(-1));
  const again = await open(`/v1/tasks/${task}/events`, { "last-event-id": last });
  await again.over;
  assert.deepEqual(
    again.got.map(({ event }) => event),
    ["end"],
  );
});

test("invariant 9: readers that reconnect at any time with their last id miss nothing and see nothing twice", async () => {
  const tasks = await Promise.all([start(), start(), start()]);
  const began = await position();
  let writing = true;
  let sent = 0;
  const writer = (async () => {
    for (; sent < 400; sent += 1) {
      await tell(tasks[sent % 3] ?? "", `message ${sent}`);
      if (sent % 7 === 0) await new Promise(setImmediate);
    }
    for (const task of tasks) await tell(task, "stop");
    for (const task of tasks) await kit.state.client.settled(task);
    writing = false;
  })();
  const readers = await Promise.all(
    fc
      .sample(fc.array(fc.integer({ min: 1, max: 60 }), { minLength: 40, maxLength: 40 }), { numRuns: 4, seed: 7 })
      .map(async (cuts) => {
        const seen: number[] = [];
        for (let turn = 0; turn < 400; turn += 1) {
          const after = seen.at(-1) ?? began;
          if (!writing && after >= kit.state.feed.position) return seen;
          const reading = await open("/v1/events", { "last-event-id": String(after) });
          const count = cuts[turn % cuts.length] ?? 1;
          await Promise.race([reading.until((got) => got.length >= count), writer]);
          reading.stop();
          await reading.over;
          seen.push(...seqs(reading.got));
        }
        return seen;
      }),
  );
  await writer;
  const all = await stored(began);
  assert.ok(all.length > 800);
  for (const seen of readers) {
    const rest = await stored(seen.at(-1) ?? began);
    assert.deepEqual([...seen, ...rest], all);
  }
});

test("live deltas have no id, and go only to readers that asked for them and only for their subtree", async () => {
  const [mine, other] = [await start(), await start()];
  const delta = (task: TaskId) => ({
    task,
    root: task,
    attempt: 1,
    run: 1,
    key: "k",
    channel: "text" as const,
    offset: 0,
    text: `of ${task}`,
  });
  const all = await open(`/v1/events?live=true&after=${await position()}`);
  const part = await open(`/v1/tasks/${mine}/events?live=true`);
  const without = await open(`/v1/tasks/${mine}/events`);
  const count = (await stored(0, mine)).length;
  await part.until((got) => got.length >= count);
  kit.live(delta(other));
  kit.live(delta(mine));
  await tell(mine, "stop");
  await Promise.all([part.over, without.over]);
  await all.until((got) => kept(got).some(({ type }) => type === "task.completed"));
  const live = (got: readonly SentEvent[]) =>
    got.filter(({ event }) => event === "live").map(({ data }) => JSON.parse(data).text);
  assert.deepEqual(live(part.got), [`of ${mine}`]);
  assert.deepEqual(live(all.got), [`of ${other}`, `of ${mine}`]);
  assert.deepEqual(live(without.got), []);
  const before = part.got.findIndex(({ event }) => event === "live");
  assert.equal(part.got[before]?.id, part.got[before - 1]?.id ?? "", "a delta does not change the last event id");
  all.stop();
  await tell(other, "stop");
});

test("a Last-Event-ID that is malformed, or higher than the last event, is refused", async () => {
  for (const id of ["x", "-1", "1.5", "1e3", "99999999999999999"]) {
    const reply = await kit.call("/v1/events", { headers: { accept: "text/event-stream", "last-event-id": id } });
    assert.equal(reply.status, 400, id);
  }
  const past = String((await position()) + 1);
  const reply = await kit.call("/v1/events", { headers: { accept: "text/event-stream", "last-event-id": past } });
  assert.equal(reply.status, 400);
  assert.deepEqual(reply.body?.["details"], { last: kit.state.feed.position });
  assert.equal((await kit.call(`/v1/events?after=${past}`, { headers: { accept: "text/event-stream" } })).status, 400);
  const unknown = await kit.call("/v1/tasks/tsk_nothing/events", { headers: { accept: "text/event-stream" } });
  assert.equal(unknown.status, 404);
});

test("an idle stream gets heartbeats, which are not events", async () => {
  const after = await position();
  const text = await new Promise<string>((resolve, reject) => {
    const socket = rawStream(`after=${after}`);
    let got = "";
    socket.setTimeout(10_000, () => reject(new Error(got)));
    socket.on("data", (chunk) => {
      got += chunk.toString();
      if (!got.endsWith("\n\n:\n\n:\n\n")) return;
      socket.destroy();
      resolve(got);
    });
  });
  assert.match(text, /\r\n\r\nretry: 1000\n\n(:\n\n)+$/);
});

test("revoking a key ends the streams it opened and no others", async () => {
  const made = await kit.keys.add({ name: "watcher", role: "viewer" });
  const [theirs, ours] = [await open("/v1/events", {}, { url: kit.http.url, key: made.key }), await open("/v1/events")];
  await kit.keys.revoke(made.id);
  await theirs.over;
  const end = endOf(theirs.got);
  assert.ok(end?.reason === "error" && end.error.code === "unauthorized");
  const all = await stored();
  await ours.until((got) => got.length >= all.length);
  assert.equal(endOf(ours.got), undefined);
  ours.stop();
});

function rawStream(query: string): Socket {
  const socket = connect({ host: "127.0.0.1", port: kit.http.port });
  const lines = [
    `GET /v1/events?${query} HTTP/1.1`,
    `Host: 127.0.0.1:${kit.http.port}`,
    `Authorization: Bearer ${kit.key}`,
    "Accept: text/event-stream",
  ];
  socket.write(`${lines.join("\r\n")}\r\n\r\n`);
  return socket;
}

interface SlowReader {
  /** Reads on until the stream is closed or `last` was read. */
  readOn(last?: string): Promise<{ ids: number[]; dropped: number; end: StreamEnd | undefined }>;
}

/** A reader that reads the beginning of a stream and then nothing more. */
const deltaOf = (task: TaskId, text: string) =>
  ({ task, root: task, attempt: 1, run: 1, key: "k", channel: "text", offset: 0, text }) as const;

/** It reads until it has caught up, and then not before it is told to. Live deltas are sent only from then on. */
async function slowReader(task: TaskId, after: number): Promise<SlowReader> {
  const socket = rawStream(`live=true&after=${after}`);
  const tick = setInterval(() => kit.live(deltaOf(task, "caught up")), 5);
  let got = "";
  socket.on("error", () => {});
  await new Promise<void>((resolve) => {
    socket.on("data", (chunk) => {
      got += chunk.toString("latin1");
      if (got.includes("caught up")) resolve();
    });
  });
  clearInterval(tick);
  socket.pause();
  return {
    async readOn(last) {
      await new Promise<void>((resolve) => {
        socket.on("close", resolve);
        socket.on("data", () => last !== undefined && got.slice(-4_096).includes(last) && resolve());
        socket.resume();
      });
      socket.destroy();
      const end = /event: end\ndata: (.*)\n\n$/.exec(got)?.[1];
      return {
        ids: [...got.matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id)),
        dropped: [...got.matchAll(/^: (\d+) live deltas/gm)].reduce((sum, [, count]) => sum + Number(count), 0),
        end: end === undefined ? undefined : StreamEnd.parse(JSON.parse(end)),
      };
    },
  };
}

test("a reader that is too slow is shed, can resume where it was, and does not delay the others", async () => {
  const task = await start();
  const began = await position();
  const slow = await slowReader(task, began);
  const quick = await open("/v1/events", { "last-event-id": String(began) });
  const large = "x".repeat(200_000);
  for (let count = 0; count < 120; count += 1) {
    await tell(task, large);
    // One after the other: a batch that alone exceeds the buffer would be sent from the store, as to a reader that catches up.
    const last = await position();
    await quick.until((got) => (seqs(got).at(-1) ?? 0) >= last);
  }
  await tell(task, "stop");
  await kit.state.client.settled(task);
  const all = await stored(began);
  await quick.until((got) => seqs(got).length >= all.length);
  assert.deepEqual(seqs(quick.got), all);
  quick.stop();
  const { ids, end } = await slow.readOn();
  assert.ok(ids.length < all.length, "it did not get all events");
  assert.deepEqual(ids, all.slice(0, ids.length), "what it got has no gap");
  assert.deepEqual(end, { reason: "shed", after: ids.at(-1) });
  const rest = await open("/v1/events", { "last-event-id": String(ids.at(-1)) });
  await rest.until((got) => got.length >= all.length - ids.length);
  rest.stop();
  assert.deepEqual([...ids, ...seqs(rest.got)], all);
});

test("a slow reader loses live deltas before it is shed, and learns how many", async () => {
  const task = await start();
  const began = await position();
  const slow = await slowReader(task, began);
  const delta = deltaOf(task, "y".repeat(4_000));
  // More than the operating system buffers for a connection.
  for (let count = 0; count < 4_000; count += 1) kit.live(delta);
  await tell(task, "stop");
  await kit.state.client.settled(task);
  const { dropped, end, ids } = await slow.readOn("task.completed");
  assert.ok(dropped > 0 && dropped < 4_000, `${dropped} were dropped`);
  assert.equal(end, undefined, "it was not shed");
  assert.deepEqual(ids, await stored(began));
});

test("a reader that reads nothing while it catches up is disconnected", async (t) => {
  const shed = Promise.withResolvers<void>();
  const hasty = await openKit({
    runners: { loop: talk },
    http: {
      log: { info() {}, error() {}, warn: (_, message) => message.includes("too slow") && shed.resolve() },
      streamLimits: { heartbeatMs: 50, stallMs: 200, endMs: 200 },
    },
  });
  t.after(() => hasty.close());
  const task = await hasty.start({ agent: "talker" });
  for (let count = 0; count < 150; count += 1) await hasty.state.client.sendMessage(task, "x".repeat(100_000));
  await hasty.state.client.sendMessage(task, "stop");
  await hasty.state.client.settled(task);
  const socket = connect({ host: "127.0.0.1", port: hasty.http.port });
  const head = [`GET /v1/events HTTP/1.1`, `Host: 127.0.0.1:${hasty.http.port}`, `Authorization: Bearer ${hasty.key}`];
  socket.on("error", () => {});
  socket.write(`${head.join("\r\n")}\r\nAccept: text/event-stream\r\n\r\n`);
  socket.pause();
  await shed.promise;
  const got = await new Promise<number>((resolve) => {
    let bytes = 0;
    socket.on("data", (chunk) => (bytes += chunk.length));
    socket.on("close", () => resolve(bytes));
    socket.resume();
  });
  assert.ok(got > 0 && got < 15_000_000, `${got} bytes`);
});

test("invariant 9: with slow reads, streams opened during the work miss nothing and repeat nothing", async (t) => {
  const late = await openKit({ runners: { loop: talk }, wrapView: lateView });
  t.after(() => late.close());
  const { client, feed } = late.state;
  const at = { url: late.http.url, key: late.key };
  const root = await late.start({ agent: "talker", budget: { concurrency: 64 } });
  const other = await late.start({ agent: "talker" });
  const streams: { readonly of: "root" | "all"; readonly reading: Promise<Reading> }[] = [];
  for (let turn = 0; turn < 60; turn += 1) {
    if (turn % 4 === 0) streams.push({ of: "root", reading: open(`/v1/tasks/${root}/events`, {}, at) });
    if (turn % 9 === 0) streams.push({ of: "all", reading: open("/v1/events", {}, at) });
    await client.sendMessage(turn % 3 === 0 ? other : root, turn === 20 ? "child" : `message ${turn}`);
    await new Promise(setImmediate);
  }
  for (const { id } of await client.tree(root)) await client.sendMessage(id, "stop");
  // These are opened while the tasks end.
  streams.push({ of: "root", reading: open(`/v1/tasks/${root}/events`, {}, at) });
  await client.settled(root);
  streams.push({ of: "root", reading: open(`/v1/tasks/${root}/events`, {}, at) });
  await client.sendMessage(other, "stop");
  await client.settled(other);
  const all = (await feed.read({ after: 0, limit: 10_000 })).events.map(({ event }) => event);
  const wanted = {
    all: all.map(({ seq }) => seq),
    root: all.filter((each) => each.root === root).map(({ seq }) => seq),
  };
  assert.ok(all.filter(({ type }) => type === "task.created").length === 3 && wanted.root.length > 60);
  for (const { of, reading } of streams) {
    const stream = await reading;
    if (of === "root") await stream.over;
    else await until(() => seqs(stream.got).length >= wanted.all.length);
    assert.deepEqual(seqs(stream.got), wanted[of]);
    if (of === "root") {
      const end = endOf(stream.got);
      assert.equal(end?.reason, "settled");
      // One commit may hold the end of this tree and later events of the other one.
      assert.ok(end.after >= (wanted.root.at(-1) ?? 0) && end.after <= (wanted.all.at(-1) ?? 0), `${end.after}`);
    }
    stream.stop();
  }
});

test("a batch larger than the buffer is read from the store: the reader gets all of it once, and then the end", async (t) => {
  for (const wrapView of [undefined, lateView]) {
    const small = await openKit({
      runners: { loop: talk },
      http: { streamLimits: { bufferBytes: 2_000 } },
      ...(wrapView === undefined ? {} : { wrapView }),
    });
    t.after(() => small.close());
    const { client, feed } = small.state;
    const root = await small.start({ agent: "talker", budget: { concurrency: 64 } });
    const at = { url: small.http.url, key: small.key };
    const got: SentEvent[] = [];
    /** On a busy machine the reader may be shed; it then resumes where it was. */
    const readAll = async (): Promise<void> => {
      for (let turn = 0; turn < 100 && endOf(got)?.reason !== "settled"; turn += 1) {
        const reading = await open(`/v1/tasks/${root}/events`, { "last-event-id": String(seqs(got).at(-1) ?? 0) }, at);
        await reading.over;
        got.push(...reading.got);
      }
    };
    const reading = readAll();
    for (let turn = 0; turn < 5; turn += 1) {
      await Promise.all(Array.from({ length: 10 }, () => client.sendMessage(root, "x".repeat(1_000))));
      await client.sendMessage(root, "child");
    }
    await until(async () => (await client.tree(root)).length === 6);
    await Promise.all((await client.tree(root)).map(({ id }) => client.sendMessage(id, "stop")));
    await reading;
    const { events: all } = await feed.read({ after: 0, limit: 10_000, task: root });
    assert.deepEqual(
      seqs(got),
      all.map(({ event }) => event.seq),
    );
    assert.deepEqual(endOf(got), { reason: "settled", after: all.at(-1)?.event.seq });
  }
});

test("streams and exports that are open or being opened when the service stops come to an end", async () => {
  const late = await openKit({ runners: { loop: talk }, wrapView: lateView });
  const at = { url: late.http.url, key: late.key };
  const task = await late.start({ agent: "talker" });
  for (let turn = 0; turn < 100; turn += 1) await late.state.client.sendMessage(task, "x".repeat(10_000));
  const opened = [open("/v1/events", {}, at), open(`/v1/tasks/${task}/events`, {}, at)];
  const calls = [late.call(`/v1/tasks/${task}/export`), late.call("/v1/events")];
  const some = await Promise.all(opened);
  const later = open("/v1/events", {}, at).catch(() => undefined);
  await new Promise(setImmediate);
  await late.close();
  for (const { over } of some) await over;
  await Promise.allSettled([...calls, later]);
});

test("a page has at most the requested number of events, and says where the next one begins", async () => {
  const Page = z.object({ events: z.array(TaskEvent), next: z.number().nullable() });
  const seen: number[] = [];
  for (let after: number | null = 0, turn = 0; after !== null && turn < 10_000; turn += 1) {
    const page = Page.parse((await kit.call(`/v1/events?limit=97&after=${after}`)).body);
    assert.ok(page.events.length <= 97);
    seen.push(...page.events.map(({ seq }) => seq));
    after = page.next;
  }
  assert.deepEqual(seen, await stored());
});
