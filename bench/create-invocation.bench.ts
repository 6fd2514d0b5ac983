// Creating an invocation over HTTP against creating it in process: 16 at once, each under a key of its own and durable when
// it is answered, in a service that is paused, so that both sides do this and nothing else. Best of several rounds.
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

import { z } from "zod";

import { openState } from "../src/daemon/state/open-state.ts";
import { DaemonProcess } from "../test/e2e/daemon-process.ts";
import { inFolder, inLanes } from "./bench-engine.ts";
import { report, round } from "./measure.ts";
import { openConnection } from "./raw-http.ts";

const [atOnce, perRound, rounds, warmUp] = [16, 1_500, 7, 2_000];

const file = JSON.stringify({
  invocation: {
    targets: [
      {
        agent: { type: "named", agent_id: "writer" },
        message: { role: "user", parts: [{ part_type: "text", data: "Write a greeting to hello.txt." }] },
      },
    ],
  },
  agents: { writer: { instructions: "You write files and say what you wrote.", tools: ["write_file"] } },
  roots: ["out"],
  script: { rules: [{ final: "hello.txt is written." }] },
});

const Round = z.object({ ms: z.number() });

interface Contender {
  /** Milliseconds for so many invocations. */
  round(count: number): Promise<number>;
  close(): Promise<void>;
}

async function timed(count: number, create: (key: string) => Promise<void>): Promise<number> {
  const start = performance.now();
  await inLanes(count, atOnce, () => create(crypto.randomUUID()));
  return performance.now() - start;
}

/** Runs a round for every line it reads. */
async function serveRounds(folder: string): Promise<void> {
  const { client } = await openState(folder);
  await client.pause();
  for await (const line of createInterface({ input: process.stdin })) {
    const ms = await timed(Number(line), async (key) => {
      const { existed } = await client.invoke(file, { folder, key });
      if (existed) throw new Error("it was there already");
    });
    console.log(JSON.stringify({ ms }));
  }
  await client.close();
}

function inProcess(folder: string): Contender {
  const child = spawn(process.execPath, [import.meta.filename, folder], { stdio: ["pipe", "pipe", "inherit"] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    async round(count) {
      child.stdin.write(`${count}\n`);
      return Round.parse(JSON.parse((await lines.next()).value ?? "null")).ms;
    },
    async close() {
      child.stdin.end();
      await new Promise((resolve) => child.once("close", resolve));
    },
  };
}

async function overHttp(daemon: DaemonProcess): Promise<Contender> {
  await daemon.client().pause();
  const { host, port } = new URL(daemon.url);
  const lanes = await Promise.all(Array.from({ length: atOnce }, () => openConnection(Number(port))));
  const free = [...lanes];
  const head = [
    `POST /v1/invocations?folder=${encodeURIComponent(daemon.folder)} HTTP/1.1`,
    `Host: ${host}`,
    `Authorization: Bearer ${daemon.key}`,
    "Content-Type: application/json",
    `Content-Length: ${Buffer.byteLength(file)}`,
  ].join("\r\n");
  const create = async (key: string): Promise<void> => {
    const lane = free.pop();
    if (lane === undefined) throw new Error("there is no free connection");
    const { status, body } = await lane.send(`${head}\r\nIdempotency-Key: ${key}\r\n\r\n${file}`);
    if (status !== 201) throw new Error(`answered ${status}: ${body}`);
    free.push(lane);
  };
  return {
    round: (count) => timed(count, create),
    async close() {
      for (const lane of lanes) lane.close();
    },
  };
}

async function compare(folder: string): Promise<void> {
  const daemon = new DaemonProcess();
  try {
    await daemon.up();
    const contenders = { http: await overHttp(daemon), inProcess: inProcess(folder) };
    const best = { http: Infinity, inProcess: Infinity };
    for (const contender of Object.values(contenders)) await contender.round(warmUp);
    for (let turn = 0; turn < rounds; turn += 1) {
      best.http = Math.min(best.http, await contenders.http.round(perRound));
      best.inProcess = Math.min(best.inProcess, await contenders.inProcess.round(perRound));
    }
    for (const contender of Object.values(contenders)) await contender.close();
    const perSecond = (ms: number): number => Math.round((perRound * 1_000) / ms);
    report({
      name: "create-invocation",
      ratio: best.inProcess / best.http,
      target: 0.3,
      bound: "at least",
      figures: {
        http_per_s: perSecond(best.http),
        in_process_per_s: perSecond(best.inProcess),
        at_once: atOnce,
        ms_per_round: { http: round(best.http, 1), in_process: round(best.inProcess, 1) },
      },
    });
  } finally {
    await daemon.close();
  }
}

const [only] = process.argv.slice(2);
await (only === undefined ? inFolder(compare) : serveRounds(only));
