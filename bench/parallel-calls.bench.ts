// A hundred children of two 50 ms model calls each, with slots for all of them, against the 100 ms no engine can beat.
import { setTimeout as sleep } from "node:timers/promises";

import { z } from "zod";

import { inFolder, newChildren, newTask, openBench, spawnAndJoin } from "./bench-engine.ts";
import { type Cost, costOf, leastCost, report, round } from "./measure.ts";

const children = 100;
const callMs = 50;
const calls = 2;
const rounds = 10;

const costs = await inFolder(async (folder) => {
  const bench = openBench(folder, {
    parent: (durable) => spawnAndJoin(durable, newChildren(children, "child")),
    async child(durable) {
      for (let call = 0; call < calls; call += 1) {
        await durable.step(`model:${call}`, { repeatable: true, schema: z.string() }, () => sleep(callMs, "said"));
      }
      return "done";
    },
  });
  const made: Cost[] = [];
  for (let index = 0; index < rounds; index += 1) {
    made.push(await costOf(() => bench.complete(newTask("parent", children + 1))));
  }
  await bench.close();
  return made;
});
const { cpuMs, wallMs } = leastCost(costs);
report({
  name: "parallel-calls",
  ratio: wallMs / (calls * callMs),
  target: 1.25,
  figures: {
    wall_ms: round(wallMs, 1),
    first_wall_ms: round(costs[0]?.wallMs ?? NaN, 1),
    cpu_ms: round(cpuMs, 1),
  },
});
