// One authenticated `GET /v1/tasks/:id`, read from the store, against bare `node:http` answering the same bytes: CPU of the
// serving process per request, 16 connections that stay open. Each server has a process of its own; the load is here.
import { spawn } from "node:child_process";
import { createServer } from "node:http";
import { createInterface } from "node:readline";

import { z } from "zod";

import { openKit } from "../test/support/http-kit.ts";
import { inLanes } from "./bench-engine.ts";
import { report, round } from "./measure.ts";
import { openConnection, type RawConnection } from "./raw-http.ts";

const Ready = z.object({ port: z.number(), request: z.string() });
const Spent = z.object({ cpuUs: z.number() });
const [connections, perRound, rounds, warmUp] = [16, 1_600, 40, 16_000];

/** Says where it listens, then how much CPU the process has used, for every line it reads. */
async function serve(ready: z.infer<typeof Ready>, close: () => Promise<void>): Promise<void> {
  console.log(JSON.stringify(ready));
  for await (const line of createInterface({ input: process.stdin })) {
    if (line === "end") break;
    const { user, system } = process.cpuUsage();
    console.log(JSON.stringify({ cpuUs: user + system }));
  }
  await close();
  process.exit(0);
}

async function serveTutti(): Promise<void> {
  const kit = await openKit({
    runners: {
      loop: async (durable) => {
        for (let turn = 0; turn < 5; turn += 1) {
          const options = { repeatable: true, schema: z.number() };
          await durable.step(`turn.${turn}`, options, () => turn);
        }
        return "a result of a few words";
      },
    },
  });
  let task = "";
  // Among others, as in a state that is in use.
  for (let count = 0; count < 200; count += 1) {
    task = await kit.start({ agent: "worker" });
    await kit.state.engine.result(task);
  }
  const lines = [
    `GET /v1/tasks/${task} HTTP/1.1`,
    `Host: 127.0.0.1:${kit.http.port}`,
    `Authorization: Bearer ${kit.key}`,
  ];
  await serve({ port: kit.http.port, request: `${lines.join("\r\n")}\r\n\r\n` }, () => kit.close());
}

/** The head and body are those the other server gave. */
async function serveBare(given: string): Promise<void> {
  const { head, body } = z.object({ head: z.string(), body: z.string() }).parse(JSON.parse(given));
  const sent = head
    .split("\r\n")
    .slice(1)
    .flatMap((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 2)]);
  const made = new Set(["Date", "Connection", "Keep-Alive"]);
  const headers = sent.filter((_, index) => !made.has(sent[index - (index % 2)] ?? ""));
  const server = createServer((_, response) => {
    response.writeHead(200, headers);
    response.end(body);
  });
  server.keepAliveTimeout = 15_000;
  server.listen(0, "127.0.0.1", () => {
    const address = server.address();
    void serve(
      { port: typeof address === "object" && address !== null ? address.port : 0, request: "" },
      async () => {},
    );
  });
}

interface Serving {
  readonly ready: z.infer<typeof Ready>;
  readonly cpuUs: () => Promise<number>;
  readonly end: () => void;
}

async function launch(...args: string[]): Promise<Serving> {
  const child = spawn(process.execPath, [import.meta.filename, ...args], { stdio: ["pipe", "pipe", "inherit"] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const next = async (): Promise<unknown> => JSON.parse((await lines.next()).value ?? "null");
  return {
    ready: Ready.parse(await next()),
    async cpuUs() {
      child.stdin.write("cpu\n");
      return Spent.parse(await next()).cpuUs;
    },
    end: () => child.stdin.write("end\n"),
  };
}

async function load(lanes: readonly RawConnection[], request: string, count: number): Promise<void> {
  const free = [...lanes];
  await inLanes(count, lanes.length, async () => {
    const lane = free.pop();
    if (lane === undefined) throw new Error("there is no free connection");
    const { status } = await lane.send(request);
    if (status !== 200) throw new Error(`answered ${status}`);
    free.push(lane);
  });
}

const [mode, given = ""] = process.argv.slice(2);
if (mode === "tutti") await serveTutti();
else if (mode === "bare") await serveBare(given);
else {
  const tutti = await launch("tutti");
  const { request } = tutti.ready;
  const first = await openConnection(tutti.ready.port);
  const { head, body } = await first.send(request);
  first.close();
  const bare = await launch("bare", JSON.stringify({ head, body }));
  const contenders = await Promise.all(
    [tutti, bare].map(async (serving) => {
      const lanes = await Promise.all(Array.from({ length: connections }, () => openConnection(serving.ready.port)));
      return { serving, lanes, best: Infinity };
    }),
  );
  for (const { lanes } of contenders) await load(lanes, request, warmUp);
  for (let turn = 0; turn < rounds; turn += 1) {
    for (const contender of contenders) {
      const before = await contender.serving.cpuUs();
      await load(contender.lanes, request, perRound);
      contender.best = Math.min(contender.best, ((await contender.serving.cpuUs()) - before) / perRound);
    }
  }
  for (const { lanes, serving } of contenders) {
    for (const lane of lanes) lane.close();
    serving.end();
  }
  const [ours = NaN, floor = NaN] = contenders.map(({ best }) => best);
  report({
    name: "http-get",
    ratio: ours / floor,
    target: 2.5,
    figures: {
      tutti_cpu_us: round(ours, 1),
      bare_cpu_us: round(floor, 1),
      bytes: head.length + 4 + body.length,
      connections,
    },
  });
}
