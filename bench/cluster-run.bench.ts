// A run of ten tool calls and an answer on one node over PostgreSQL, against a bare loop that writes the same content there;
// and, with a model that takes 20 ms, against the embedded store.
//
// The floor is a loop with one prepared insert: two rows per step with the step's content, made into text beforehand, all
// rows of a tick in one statement, the next one growing while one is on its way. PostgreSQL is on the same machine and syncs
// to disk.
import { mkdtempSync } from "node:fs";
import { join } from "node:path";

import { connectTo } from "../src/store/postgres/database-connection.ts";
import type { PostgresServer } from "../test/support/postgres-server.ts";
import { callTools, inFolder, inLanes, newTask, openBench, replyAt, toolOutcome } from "./bench-engine.ts";
import { openBenchNode, withPostgres } from "./bench-node.ts";
import { type Cost, costOf, leastCost, report, round } from "./measure.ts";

const turns = 10;
const modelMs = 20;
const replies = Array.from({ length: turns + 1 }, (_, turn) => JSON.stringify(replyAt(turn, turns)));
const outcome = JSON.stringify(toolOutcome);
const loops = {
  tools: (durable: Parameters<typeof callTools>[0]) => callTools(durable, turns),
  slow: (durable: Parameters<typeof callTools>[0]) => callTools(durable, turns, modelMs),
};

interface Contender {
  readonly one: () => Promise<void>;
  readonly close: () => Promise<void>;
}

async function bareRuns(server: PostgresServer): Promise<Contender> {
  const client = await connectTo({ url: server.url, schema: "public" });
  await client.query("CREATE TABLE rows (id bigserial PRIMARY KEY, task bigint, key text, body text)");
  await client.query("CREATE UNIQUE INDEX rows_key ON rows (task, key)");
  const text = "INSERT INTO rows (task, key, body) SELECT * FROM unnest($1::bigint[], $2::text[], $3::text[])";
  let queue: [number, string, string][] = [];
  let waiting: (() => void)[] = [];
  let busy = false;
  const flush = async (): Promise<void> => {
    for (busy = true; queue.length > 0;) {
      const [rows, waiters] = [queue, waiting];
      [queue, waiting] = [[], []];
      const values = [0, 1, 2].map((at) => rows.map((row) => row[at]));
      await client.query({ name: "bare", text, values });
      for (const resolve of waiters) resolve();
      await new Promise((resolve) => setImmediate(resolve));
    }
    busy = false;
  };
  const write = (task: number, key: string, body: string): Promise<void> => {
    if (queue.length === 0 && !busy) setImmediate(() => void flush());
    queue.push([task, key, body], [task, `${key}!`, body]);
    return new Promise((resolve) => waiting.push(resolve));
  };
  let tasks = 0;
  const one = async (): Promise<void> => {
    const task = (tasks += 1);
    for (let turn = 0; turn <= turns; turn += 1) {
      await write(task, `model:${turn}`, replies[turn] ?? "");
      if (turn < turns) await write(task, `tool:${turn}.0`, outcome);
    }
  };
  return { one, close: () => client.end() };
}

interface Plan {
  readonly total: number;
  readonly atOnce: number;
  readonly rounds: number;
}

/** Both are measured in short turns, one after the other, so that a disk or a neighbour that changes pace meets both alike. */
async function compare({ total, atOnce, rounds }: Plan, floor: () => Promise<void>, node: () => Promise<void>) {
  const costs: { floor: Cost[]; node: Cost[] } = { floor: [], node: [] };
  for (let index = -1; index < rounds; index += 1) {
    const floorCost = await costOf(() => inLanes(total, atOnce, floor));
    const nodeCost = await costOf(() => inLanes(total, atOnce, node));
    if (index < 0) continue;
    costs.floor.push(floorCost);
    costs.node.push(nodeCost);
  }
  return { floor: leastCost(costs.floor), node: leastCost(costs.node) };
}

await withPostgres((server) =>
  inFolder(async (folder) => {
    const bare = await bareRuns(server);
    const embedded = openBench(mkdtempSync(join(folder, "embedded-")), loops);
    const node = await openBenchNode({ url: server.url, schema: "bench" }, { name: "one", folder, loops });
    const plans = [
      { name: "cluster-run-64", target: 0.45, total: 320, atOnce: 64, rounds: 15, agent: "tools", floor: bare.one },
      { name: "cluster-run-1", target: 0.4, total: 25, atOnce: 1, rounds: 15, agent: "tools", floor: bare.one },
      {
        name: "cluster-model-64",
        target: 0.75,
        total: 256,
        atOnce: 64,
        rounds: 7,
        agent: "slow",
        floor: () => embedded.complete(newTask("slow")),
      },
    ];
    for (const { name, target, agent, floor, ...plan } of plans) {
      const cost = await compare(plan, floor, () => node.complete(newTask(agent)));
      report({
        name,
        ratio: cost.floor.wallMs / cost.node.wallMs,
        target,
        bound: "at least",
        figures: {
          node_runs_per_s: Math.round((plan.total * 1000) / cost.node.wallMs),
          floor_runs_per_s: Math.round((plan.total * 1000) / cost.floor.wallMs),
          node_cpu_ms: round(cost.node.cpuMs / plan.total),
          floor_cpu_ms: round(cost.floor.cpuMs / plan.total),
        },
      });
    }
    await Promise.all([bare.close(), embedded.close(), node.close()]);
  }),
);
