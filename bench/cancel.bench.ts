// Cancelling a thousand running children, against spawning and joining a thousand that do the same step and answer.
import { z } from "zod";

import type { Durable } from "../src/ports.ts";
import { inFolder, newChildren, newTask, openBench, spawnAndJoin } from "./bench-engine.ts";
import { type Cost, costOf, leastCost, report, round } from "./measure.ts";

const children = 1_000;
const rounds = 6;

const step = { repeatable: true, schema: z.string() };
let begun = 0;
let aborted = 0;
let allBegun: (() => void) | undefined;

/** Runs until its signal is aborted. */
async function runOn(durable: Durable): Promise<string> {
  return durable.step("model:0", step, ({ signal }) => {
    begun += 1;
    if (begun === children) allBegun?.();
    return new Promise<string>((_, reject) => {
      signal.addEventListener("abort", () => {
        aborted += 1;
        reject(signal.reason);
      });
    });
  });
}

const costs = await inFolder(async (folder) => {
  const bench = openBench(folder, {
    joining: (durable) => spawnAndJoin(durable, newChildren(children, "answering")),
    answering: (durable) => durable.step("model:0", step, async () => "said"),
    waiting: (durable) => spawnAndJoin(durable, newChildren(children, "running")),
    running: runOn,
  });
  const made: { joined: Cost[]; canceled: Cost[] } = { joined: [], canceled: [] };
  for (let index = 0; index < rounds; index += 1) {
    made.joined.push(await costOf(() => bench.complete(newTask("joining", children + 1))));
    const running = new Promise<void>((resolve) => (allBegun = resolve));
    [begun, aborted] = [0, 0];
    const { task } = await bench.engine.start(newTask("waiting", children + 1));
    await running;
    made.canceled.push(
      await costOf(async () => {
        const ended = await bench.engine.cancel(task, "enough");
        await bench.engine.idle();
        if (ended.length !== children + 1) throw new Error(`${ended.length} were canceled`);
      }),
    );
    if (aborted !== children) throw new Error(`${aborted} of ${children} were told`);
  }
  await bench.close();
  return made;
});
const [joined, canceled] = [leastCost(costs.joined), leastCost(costs.canceled)];
report({
  name: "cancel",
  ratio: canceled.cpuMs / joined.cpuMs,
  target: 1,
  figures: {
    cancel_cpu_ms: round(canceled.cpuMs, 1),
    spawn_and_join_cpu_ms: round(joined.cpuMs, 1),
    cancel_wall_ms: round(canceled.wallMs, 1),
    spawn_and_join_wall_ms: round(joined.wallMs, 1),
  },
});
