// Runs of ten tool calls and an answer on several nodes, each in a process of its own, against one node: with a model that takes
// 20 ms, 64 runs at once on each node; and with commits that take 5 ms, as with a copy of the database elsewhere that has to
// confirm, and a model that answers at once, 16 runs at once on each node. The events of all get their places in the one sequence.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";

import { z } from "zod";

import { connectTo, type DatabaseAddress } from "../src/store/postgres/database-connection.ts";
import { callTools, inFolder, newTask } from "./bench-engine.ts";
import { openBenchNode, withPostgres } from "./bench-node.ts";
import { report, round } from "./measure.ts";

const turns = 10;
const seconds = 4;
const rounds = 3;
const Done = z.object({ runs: z.number(), ms: z.number() });

/** Runs for so many seconds for every line that it reads. */
async function serve(address: DatabaseAddress, name: string, atOnce: number, modelMs: number): Promise<void> {
  await inFolder(async (folder) => {
    const loops = { tools: (durable: Parameters<typeof callTools>[0]) => callTools(durable, turns, modelMs) };
    const node = await openBenchNode(address, { name, folder, loops });
    console.log("ready");
    for await (const line of createInterface({ input: process.stdin })) {
      const [start, end] = [performance.now(), performance.now() + Number(line) * 1_000];
      let runs = 0;
      const lane = async (): Promise<void> => {
        for (; performance.now() < end; runs += 1) await node.complete(newTask("tools"));
      };
      await Promise.all(Array.from({ length: atOnce }, lane));
      console.log(JSON.stringify({ runs, ms: performance.now() - start }));
    }
    await node.close();
  });
}

interface Served {
  readonly child: ChildProcess;
  next(): Promise<string>;
}

function startNode(args: readonly string[]): Served {
  const child = spawn(process.execPath, [import.meta.filename, ...args], { stdio: ["pipe", "pipe", "inherit"] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return { child, next: async () => (await lines.next()).value ?? "null" };
}

interface Plan {
  readonly counts: readonly number[];
  readonly atOnce: number;
  readonly modelMs: number;
  readonly commitMs: number;
}

/** Runs per second with so many nodes at work, by their number; the best of some rounds. */
async function measure(url: string, { counts, atOnce, modelMs, commitMs }: Plan): Promise<Map<number, number>> {
  const schema = `nodes_${commitMs}`;
  const nodes: Served[] = [];
  for (let at = 0; at < Math.max(...counts); at += 1) {
    const node = startNode([url, schema, `n${at}`, String(atOnce), String(modelMs)]);
    nodes.push(node);
    await node.next();
  }
  if (commitMs > 0) await slowCommits({ url, schema }, commitMs);
  const best = new Map<number, number>();
  const turn = async (count: number, time: number): Promise<number> => {
    const working = nodes.slice(0, count);
    for (const { child } of working) child.stdin?.write(`${time}\n`);
    const done = await Promise.all(working.map(async (node) => Done.parse(JSON.parse(await node.next()))));
    return done.reduce((sum, { runs, ms }) => sum + (runs * 1_000) / ms, 0);
  };
  await turn(nodes.length, 1);
  for (let at = 0; at < rounds; at += 1) {
    for (const count of counts) best.set(count, Math.max(best.get(count) ?? 0, await turn(count, seconds)));
  }
  for (const { child } of nodes) {
    child.stdin?.end();
    await once(child, "close");
  }
  return best;
}

/** Every commit holds what it has locked for so much longer. */
async function slowCommits(address: DatabaseAddress, ms: number): Promise<void> {
  const client = await connectTo(address);
  const { rows } = await client.query<{ sql: string }>(
    `SELECT pg_get_functiondef(oid) AS sql FROM pg_proc
     WHERE proname = 'pass_fence' AND pronamespace = current_schema()::regnamespace`,
  );
  const sql = rows[0]?.sql ?? "";
  const slow = sql.replace("IF FOUND THEN RETURN true;", `IF FOUND THEN PERFORM pg_sleep(${ms / 1_000}); RETURN true;`);
  if (slow === sql) throw new Error("the fence is not where it is looked for");
  await client.query(slow);
  await client.end();
}

const [url, schema, name, atOnce, modelMs] = process.argv.slice(2);
if (url !== undefined) {
  await serve({ url, schema: schema ?? "" }, name ?? "", Number(atOnce), Number(modelMs));
} else {
  await withPostgres(async (server) => {
    const model = await measure(server.url, { counts: [1, 2, 3], atOnce: 64, modelMs: 20, commitMs: 0 });
    const slow = await measure(server.url, { counts: [1, 6], atOnce: 16, modelMs: 0, commitMs: 5 });
    for (const { nodes, of, target, kind } of [
      { nodes: 2, of: model, target: 1.7, kind: "model" },
      { nodes: 3, of: model, target: 2.3, kind: "model" },
      { nodes: 6, of: slow, target: 4, kind: "slow-commits" },
    ]) {
      const [one, many] = [of.get(1) ?? 0, of.get(nodes) ?? 0];
      const figures = { runs_per_s: round(many, 1), one_runs_per_s: round(one, 1) };
      report({ name: `cluster-nodes-${nodes}-${kind}`, ratio: many / one, target, bound: "at least", figures });
    }
  });
}
