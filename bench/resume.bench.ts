// Resuming a task of 1,000 recorded steps against reading its rows: from the start of an engine to the wait it was in.
//
// The loop starts from where it was, as the agent loop does, and reads its conversation back. Shown beside it: a loop that
// comes by all of its 1,000 steps again, which no loop of ours does.
import { DatabaseSync } from "node:sqlite";

import { z } from "zod";

import type { Durable } from "../src/ports.ts";
import { databaseFile } from "../src/store/sqlite/database.ts";
import { inFolder, newTask, openBench, replyAt, Reply, ToolOutcome, toolOutcome } from "./bench-engine.ts";
import { type Cost, costOf, leastCost, report, round } from "./measure.ts";

const turns = 500;
const rounds = 15;
const State = z.object({ turn: z.int() });

let bodies = 0;
let atTheWait: (() => void) | undefined;

async function steps(durable: Durable, from: number): Promise<void> {
  for (let turn = from; turn < turns; turn += 1) {
    durable.save(`state:${turn}`, { turn });
    await durable.step(`model:${turn}`, { repeatable: true, schema: Reply, event: "message.added" }, () => {
      bodies += 1;
      return replyAt(turn, turns);
    });
    await durable.step(`tool:${turn}.0`, { repeatable: false, schema: ToolOutcome, input: { turn } }, () => {
      bodies += 1;
      return toolOutcome;
    });
  }
}

/** There, and nothing but a message from outside can move it. */
async function wait(durable: Durable): Promise<void> {
  atTheWait?.();
  await durable.receive("mail", { block: true });
}

async function fromState(durable: Durable): Promise<void> {
  const found = await durable.restore(State);
  if (found !== undefined && found.messages.length !== turns) throw new Error(`${found.messages.length} messages`);
  await steps(durable, found?.state.turn ?? 0);
  await wait(durable);
}

async function fromTheStart(durable: Durable): Promise<void> {
  await steps(durable, 0);
  await wait(durable);
}

const loops = { fromState, fromTheStart };

/** Both begin with a file that was just opened. */
async function measured(agent: keyof typeof loops): Promise<{ resume: Cost; read: Cost }> {
  return inFolder(async (folder) => {
    const reached = (): Promise<void> => new Promise((resolve) => (atTheWait = resolve));
    const first = openBench(folder, loops);
    const arrived = reached();
    await first.engine.start(newTask(agent));
    await arrived;
    await first.close();
    if (bodies !== 2 * turns) throw new Error(`${bodies} bodies ran`);
    const costs: { resume: Cost[]; read: Cost[] } = { resume: [], read: [] };
    for (let index = 0; index < rounds; index += 1) {
      const database = new DatabaseSync(databaseFile(folder), { readOnly: true });
      costs.read.push(
        await costOf(async () => {
          const rows = database.prepare("SELECT * FROM log WHERE run = ?").all(1);
          if (rows.length < 2 * turns) throw new Error(`${rows.length} rows`);
        }),
      );
      database.close();
      const bench = openBench(folder, loops);
      const there = reached();
      costs.resume.push(
        await costOf(async () => {
          await bench.engine.recover();
          await there;
        }),
      );
      await bench.close();
    }
    if (bodies !== 2 * turns) throw new Error("a recorded step ran again");
    bodies = 0;
    return { resume: leastCost(costs.resume), read: leastCost(costs.read) };
  });
}

const restored = await measured("fromState");
const replayed = await measured("fromTheStart");
const ratioOf = ({ resume, read }: { resume: Cost; read: Cost }): number => resume.cpuMs / read.cpuMs;
report({
  name: "resume",
  ratio: ratioOf(restored),
  target: 5,
  figures: Object.fromEntries(
    Object.entries({ from_state: restored, from_the_start: replayed }).map(([name, { resume, read }]) => [
      name,
      {
        ratio: round(ratioOf({ resume, read })),
        cpu_ms: round(resume.cpuMs),
        wall_ms: round(resume.wallMs),
        read_cpu_ms: round(read.cpuMs),
      },
    ]),
  ),
});
