// What stays in memory of tasks that are over: the heap after 20,000 of them against the heap after 2,000.
import { setImmediate as nextTick } from "node:timers/promises";

import { callTools, inFolder, inLanes, newChildren, newTask, openBench, spawnAndJoin } from "./bench-engine.ts";
import { report, round } from "./measure.ts";

const perTree = 10;

async function heapAfterCollection(): Promise<number> {
  const { gc } = globalThis;
  if (gc === undefined) throw new Error("needs --expose-gc; run `npm run bench`");
  // What a collection lets go of may free more once its callbacks have run.
  for (let turn = 0; turn < 4; turn += 1) {
    gc();
    await nextTick();
  }
  return process.memoryUsage().heapUsed;
}

const [few, many] = [2_000, 20_000];
const heaps = await inFolder(async (folder) => {
  const bench = openBench(folder, {
    parent: (durable) => spawnAndJoin(durable, newChildren(perTree - 1, "child")),
    child: (durable) => callTools(durable, 1),
  });
  const run = (tasks: number): Promise<void> => inLanes(tasks / perTree, 8, () => bench.complete(newTask("parent")));
  await run(few);
  const first = await heapAfterCollection();
  await run(many - few);
  const second = await heapAfterCollection();
  await bench.close();
  return { first, second };
});
report({
  name: "memory",
  ratio: heaps.second / heaps.first,
  target: 1.15,
  figures: { heap_mb_2000: round(heaps.first / 2 ** 20, 2), heap_mb_20000: round(heaps.second / 2 ** 20, 2) },
});
