// A run of ten tool calls and an answer, every step durable, against a bare loop that writes the same content.
//
// The floor is a loop with one prepared insert: two rows per step with the step's content, made into text beforehand, one
// commit per tick, waiting for that commit at each step. Both write to real files with synchronous=FULL.
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

import { callTools, inFolder, inLanes, newTask, openBench, replyAt, toolOutcome } from "./bench-engine.ts";
import { type Cost, costOf, leastCost, report, round } from "./measure.ts";

const turns = 10;
const replies = Array.from({ length: turns + 1 }, (_, turn) => JSON.stringify(replyAt(turn, turns)));
const outcome = JSON.stringify(toolOutcome);

interface Contender {
  readonly one: () => Promise<void>;
  readonly close: () => Promise<void> | void;
}

function durableRuns(folder: string): Contender {
  const { complete, close } = openBench(folder, { tools: (durable) => callTools(durable, turns) });
  return { one: () => complete(newTask("tools")), close };
}

function bareRuns(folder: string): Contender {
  const database = new DatabaseSync(join(folder, "floor.db"));
  database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 4000");
  database.exec("CREATE TABLE rows (id INTEGER PRIMARY KEY, task INTEGER, key TEXT, body TEXT)");
  database.exec("CREATE UNIQUE INDEX rows_key ON rows (task, key)");
  const insert = database.prepare("INSERT INTO rows (task, key, body) VALUES (?, ?, ?)");
  const [begin, commit] = [database.prepare("BEGIN IMMEDIATE"), database.prepare("COMMIT")];
  let queue: [number, string, string][] = [];
  let waiting: (() => void)[] = [];
  const flush = (): void => {
    const [rows, waiters] = [queue, waiting];
    [queue, waiting] = [[], []];
    begin.run();
    for (const row of rows) insert.run(...row);
    commit.run();
    for (const resolve of waiters) resolve();
  };
  const write = (task: number, key: string, body: string): Promise<void> => {
    if (queue.length === 0) setImmediate(flush);
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
  return { one, close: () => database.close() };
}

/** Both are measured in short turns, one after the other, so that a disk or a neighbour that changes pace meets both alike. */
async function compare(plan: { readonly total: number; readonly atOnce: number; readonly rounds: number }) {
  const { total, atOnce, rounds } = plan;
  return inFolder(async (folder) => {
    const [floor, engine] = [bareRuns(folder), durableRuns(folder)];
    const costs: { floor: Cost[]; engine: Cost[] } = { floor: [], engine: [] };
    for (let index = -1; index < rounds; index += 1) {
      const floorCost = await costOf(() => inLanes(total, atOnce, floor.one));
      const engineCost = await costOf(() => inLanes(total, atOnce, engine.one));
      if (index < 0) continue;
      costs.floor.push(floorCost);
      costs.engine.push(engineCost);
    }
    await floor.close();
    await engine.close();
    return { floor: leastCost(costs.floor), engine: leastCost(costs.engine) };
  });
}

for (const { name, target, ...plan } of [
  { name: "durable-run-64", target: 0.6, total: 320, atOnce: 64, rounds: 25 },
  { name: "durable-run-1", target: 1, total: 25, atOnce: 1, rounds: 25 },
]) {
  const { floor, engine } = await compare(plan);
  report({
    name,
    ratio: floor.wallMs / engine.wallMs,
    target,
    bound: "at least",
    figures: {
      engine_runs_per_s: Math.round((plan.total * 1000) / engine.wallMs),
      floor_runs_per_s: Math.round((plan.total * 1000) / floor.wallMs),
      engine_cpu_ms: round(engine.cpuMs / plan.total),
      floor_cpu_ms: round(floor.cpuMs / plan.total),
      cpu_ratio: round(floor.cpuMs / engine.cpuMs),
    },
  });
}
