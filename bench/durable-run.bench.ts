// A run of ten tool calls and an answer, every step durable, against a bare loop that writes the same content.
//
// The floor is a loop with one prepared insert: two rows per step with the step's content, one commit per tick, waiting
// for that commit at each step. Both write to real files with synchronous=FULL.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

import { z } from "zod";

import { systemClock } from "../src/engine/clock.ts";
import { Engine } from "../src/engine/engine.ts";
import type { Durable } from "../src/ports.ts";
import { CompleteMessage } from "../src/protocol/message.ts";
import { openStore } from "../src/store/sqlite/sqlite-store.ts";
import { round } from "./measure.ts";

const turns = 10;
const filler = "lorem ipsum dolor sit amet consectetur ".repeat(8);
const replyTo = (turn: number) => ({
  message: {
    id: `m${turn}`,
    name: null,
    role: "assistant" as const,
    parts: [
      { part_type: "text" as const, data: filler.slice(0, 200) },
      ...(turn < turns
        ? [{ part_type: "tool_call" as const, data: { tool_call_id: `c${turn}`, tool_name: "look", input: { turn } } }]
        : []),
    ],
    created_at: 1_700_000_000_000,
  },
  usage: { input_tokens: 100, output_tokens: 20, money_micro_usd: 10 },
});
const Reply = z.object({
  message: CompleteMessage,
  usage: z.object({ input_tokens: z.int(), output_tokens: z.int(), money_micro_usd: z.int() }),
});
const ToolOutcome = z.object({ ok: z.boolean(), text: z.string() });
const toolOutcome = { ok: true, text: filler };

async function loop(durable: Durable): Promise<string> {
  for (let turn = 0; ; turn += 1) {
    durable.save(`state:${turn}`, { turn });
    const reply = await durable.step(
      `model:${turn}`,
      {
        repeatable: true,
        schema: Reply,
        event: "message.added",
        reserve: { input_tokens: 100, output_tokens: 100, money_micro_usd: 20 },
        spent: (outcome) => outcome.usage,
      },
      async (): Promise<z.infer<typeof Reply>> => replyTo(turn),
    );
    const call = reply.message.parts.find((part) => part.part_type === "tool_call");
    if (call === undefined) return "done";
    await durable.step(
      `tool:${turn}.0`,
      { repeatable: false, schema: ToolOutcome, input: call.data.input },
      async () => toolOutcome,
    );
  }
}

async function engineRuns(folder: string, total: number, atOnce: number): Promise<void> {
  const store = openStore(folder);
  const engine = new Engine({ store, clock: systemClock, runners: { loop }, slots: 1_000 });
  const one = async (): Promise<void> => {
    const { task } = await engine.start({
      runner: { kind: "loop", config: {} },
      agent: "bench",
      input: null,
      rights: { tools: "*", roots: [] },
    });
    const result = await engine.result(task);
    if (result.status !== "completed") throw new Error(JSON.stringify(result));
  };
  await inLanes(total, atOnce, one);
  await engine.stop();
  store.close();
}

async function floorRuns(folder: string, total: number, atOnce: number): Promise<void> {
  const database = new DatabaseSync(join(folder, "floor.db"));
  database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 4000");
  database.exec("CREATE TABLE IF NOT EXISTS rows (id INTEGER PRIMARY KEY, task INTEGER, key TEXT, body TEXT)");
  database.exec("CREATE UNIQUE INDEX IF NOT EXISTS rows_key ON rows (task, key)");
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
  let task = Number(database.prepare("SELECT MAX(task) AS task FROM rows").get()?.["task"] ?? 0);
  await inLanes(total, atOnce, async () => {
    const mine = (task += 1);
    for (let turn = 0; turn <= turns; turn += 1) {
      await write(mine, `model:${turn}`, JSON.stringify(replyTo(turn)));
      if (turn < turns) await write(mine, `tool:${turn}.0`, JSON.stringify(toolOutcome));
    }
  });
  database.close();
}

async function inLanes(total: number, atOnce: number, work: () => Promise<void>): Promise<void> {
  let left = total;
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      while ((left -= 1) >= 0) await work();
    }),
  );
}

async function rate(
  runs: typeof engineRuns,
  total: number,
  atOnce: number,
): Promise<{ perSecond: number; cpuMs: number }> {
  const folder = mkdtempSync(join(tmpdir(), "tutti-bench-"));
  try {
    await runs(folder, Math.ceil(total / 10), atOnce);
    const [cpu, wall] = [process.cpuUsage(), performance.now()];
    await runs(folder, total, atOnce);
    const spent = process.cpuUsage(cpu);
    return {
      perSecond: (total * 1000) / (performance.now() - wall),
      cpuMs: (spent.user + spent.system) / 1000 / total,
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

let missed = false;
for (const { name, total, atOnce, target } of [
  { name: "durable-run-64", total: 3_000, atOnce: 64, target: 0.6 },
  { name: "durable-run-1", total: 200, atOnce: 1, target: 1 },
]) {
  const rounds: { floor: number; engine: number; floorCpu: number; engineCpu: number }[] = [];
  for (let index = 0; index < 3; index += 1) {
    const floor = await rate(floorRuns, total, atOnce);
    const engine = await rate(engineRuns, total, atOnce);
    rounds.push({ floor: floor.perSecond, engine: engine.perSecond, floorCpu: floor.cpuMs, engineCpu: engine.cpuMs });
  }
  const best = (pick: (round: (typeof rounds)[number]) => number): number => Math.max(...rounds.map(pick));
  const [floor, engine] = [best((each) => each.floor), best((each) => each.engine)];
  const pass = engine / floor >= target;
  missed ||= !pass;
  console.log(
    JSON.stringify({
      name,
      ratio: round(engine / floor),
      target,
      pass,
      at_least: true,
      engine_runs_per_s: Math.round(engine),
      floor_runs_per_s: Math.round(floor),
      engine_cpu_ms: round(-best((each) => -each.engineCpu)),
      floor_cpu_ms: round(-best((each) => -each.floorCpu)),
    }),
  );
}
if (missed) process.exitCode = 1;
