// 1,000 running tasks, 200 events a second: how much later than a single reader of the event stream the slowest of 100 are
// told, from the commit to the reader. Every reader must see every event in order. The service has a process of its own.
import { spawn } from "node:child_process";
import { connect, type Socket } from "node:net";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";

import { z } from "zod";

import { openKit } from "../test/support/http-kit.ts";
import { userMessage } from "../src/protocol/task/message.ts";
import { report, round } from "./measure.ts";

const [tasks, everyMs, phaseMs, rounds, many] = [1_000, 5, 5_000, 4, 100];
/** The monotonic clock is the same for all processes of a machine. */
const sinceUs = Number(process.hrtime.bigint() / 1_000n) - performance.now() * 1_000;
const nowUs = (): number => sinceUs + performance.now() * 1_000;

const Ready = z.object({ port: z.number(), key: z.string() });
const Phase = z.object({
  /** What was recorded, in order. */
  seqs: z.array(z.number()),
  /** The last event of each commit, and when it was on disk. */
  commits: z.array(z.tuple([z.number(), z.number()])),
});
type Phase = z.infer<typeof Phase>;

/** For every line it reads: 200 events a second for a while, then what was recorded and when. */
async function serve(): Promise<void> {
  let commits: [number, number][] | undefined;
  const kit = await openKit({
    slots: 2 * tasks,
    onCommit: () => {
      const at = nowUs();
      if (commits === undefined) return;
      const commit: [number, number] = [0, at];
      commits.push(commit);
      // SQLite is read in this tick; only the promise comes later.
      void kit.state.view.lastEvent().then((seq) => (commit[0] = seq));
    },
    runners: {
      loop: async (durable) => {
        for (let turn = 0; ; turn += 1) {
          const heard = await durable.receive(`hear.${turn}`, { block: true });
          durable.say(`say.${turn}`, userMessage(heard === undefined ? "" : `heard at turn ${turn}`));
        }
      },
    },
  });
  const running = await Promise.all(Array.from({ length: tasks }, () => kit.start({ agent: "worker" })));
  console.log(JSON.stringify({ port: kit.http.port, key: kit.key }));
  let told = 0;
  for await (const line of createInterface({ input: process.stdin })) {
    if (line === "end") break;
    const began = kit.state.feed.position;
    commits = [];
    const until = performance.now() + phaseMs;
    for (let due = performance.now(); due < until; due += everyMs) {
      await sleep(Math.max(0, due - performance.now()));
      await kit.state.client.sendMessage(running[told % tasks] ?? "", "go on");
      told += 1;
    }
    await sleep(200);
    const seqs = (await kit.state.feed.read({ after: began, limit: 1_000_000 })).events.map(({ event }) => event.seq);
    console.log(JSON.stringify({ seqs, commits }));
    commits = undefined;
  }
  await kit.close();
  process.exit(0);
}

/** What came and when; it is looked at when the phase is over, so that reading costs as little as it can. */
interface Reader {
  readonly socket: Socket;
  readonly chunks: Buffer[];
  readonly atUs: number[];
}

async function openReader({ port, key }: z.infer<typeof Ready>, after: number): Promise<Reader> {
  const socket = connect({ host: "127.0.0.1", port, noDelay: true });
  const reader: Reader = { socket, chunks: [], atUs: [] };
  const head = [`GET /v1/events?after=${after} HTTP/1.1`, `Host: 127.0.0.1:${port}`, `Authorization: Bearer ${key}`];
  socket.write(`${head.join("\r\n")}\r\nAccept: text/event-stream\r\n\r\n`);
  socket.on("data", (chunk) => {
    reader.atUs.push(nowUs());
    reader.chunks.push(chunk);
  });
  await new Promise((resolve) => socket.once("data", resolve));
  return reader;
}

/** The events of a reader in the order they came, each with the time of the bytes that completed it. */
function told({ chunks, atUs }: Reader): { readonly seq: number; readonly at: number }[] {
  let held = "";
  return chunks.flatMap((chunk, index) => {
    held += chunk.toString("latin1");
    const end = held.lastIndexOf("\n\n") + 2;
    if (end < 2) return [];
    const whole = held.slice(0, end);
    held = held.slice(end);
    return [...whole.matchAll(/^id: (\d+)$/gm)].map(([, seq]) => ({ seq: Number(seq), at: atUs[index] ?? NaN }));
  });
}

/** Microseconds from commit to reader, of every event and reader. Throws when a reader missed one or saw them out of order. */
function delays({ seqs, commits }: Phase, readers: readonly Reader[]): number[] {
  const committed = new Map<number, number>();
  let at = 0;
  for (const seq of seqs) {
    while ((commits[at]?.[0] ?? Infinity) < seq) at += 1;
    committed.set(seq, commits[at]?.[1] ?? NaN);
  }
  return readers.flatMap((reader) => {
    const got = told(reader);
    if (got.map(({ seq }) => seq).join() !== seqs.join()) {
      throw new Error(`a reader was told ${got.length} of ${seqs.length} events, or in another order`);
    }
    return got.map(({ seq, at: heard }) => heard - (committed.get(seq) ?? NaN));
  });
}

function quantile(values: readonly number[], share: number): number {
  return values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))] ?? NaN;
}

if (process.argv[2] === "serve") await serve();
else {
  const child = spawn(process.execPath, [import.meta.filename, "serve"], { stdio: ["pipe", "pipe", "inherit"] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const next = async (): Promise<unknown> => JSON.parse((await lines.next()).value ?? "null");
  const ready = Ready.parse(await next());
  let position = 0;
  const phase = async (count: number): Promise<{ p50: number; p99: number; events: number }> => {
    const readers = await Promise.all(Array.from({ length: count }, () => openReader(ready, position)));
    // Caught up with what was there before; what counts is told from now on.
    if (position === 0) await sleep(2_000);
    for (const reader of readers) [reader.chunks, reader.atUs].forEach((list) => list.splice(0));
    child.stdin.write("go\n");
    const made = Phase.parse(await next());
    position = made.seqs.at(-1) ?? position;
    const took = delays(made, readers);
    for (const { socket } of readers) socket.destroy();
    return { p50: quantile(took, 0.5), p99: quantile(took, 0.99), events: made.seqs.length };
  };
  await phase(1);
  const [alone, together]: Awaited<ReturnType<typeof phase>>[][] = [[], []];
  for (let turn = 0; turn < rounds; turn += 1) {
    alone?.push(await phase(1));
    together?.push(await phase(many));
  }
  child.stdin.write("end\n");
  const least = (of: typeof alone, which: "p50" | "p99"): number => Math.min(...(of ?? []).map((each) => each[which]));
  report({
    name: "sse-fan-out",
    ratio: least(together, "p99") / least(alone, "p99"),
    target: 5,
    figures: {
      tasks,
      events_per_phase: together?.[0]?.events,
      readers: many,
      alone_p50_us: round(least(alone, "p50"), 0),
      alone_p99_us: round(least(alone, "p99"), 0),
      together_p50_us: round(least(together, "p50"), 0),
      together_p99_us: round(least(together, "p99"), 0),
    },
  });
}
