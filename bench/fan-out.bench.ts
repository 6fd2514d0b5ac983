// Spawning and joining 100, 1,000 and 10,000 children, each with one tool call and an answer: what a child costs must not
// grow with how many there are. Each size has a process of its own, the best of three.
import { z } from "zod";

import { callTools, inFolder, newChildren, newTask, openBench, ownProcess, spawnAndJoin } from "./bench-engine.ts";
import { costOf, leastCost, report, round } from "./measure.ts";

const Fanned = z.object({ cpuMs: z.number(), wallMs: z.number(), peakMb: z.number() });

/** Compiled code only: a small fan-out beforehand, so that the first of the sizes does not pay for the compiler. */
const warmUp = 500;

async function fanOut(count: number): Promise<z.infer<typeof Fanned>> {
  return inFolder(async (folder) => {
    let size = warmUp;
    const bench = openBench(folder, {
      parent: (durable) => spawnAndJoin(durable, newChildren(size, "child")),
      child: (durable) => callTools(durable, 1),
    });
    await bench.complete(newTask("parent"));
    size = count;
    const cost = await costOf(() => bench.complete(newTask("parent")));
    await bench.close();
    return { ...cost, peakMb: process.resourceUsage().maxRSS / 1024 };
  });
}

const [only] = process.argv.slice(2);
if (only === undefined) {
  const sizes = [100, 1_000, 10_000].map((count) => {
    const turns = [1, 2, 3].map(() => Fanned.parse(ownProcess(import.meta.filename, [String(count)])));
    const { cpuMs, wallMs } = leastCost(turns);
    return { count, wallMs, usPerChild: (cpuMs * 1000) / count, peakMb: Math.min(...turns.map((turn) => turn.peakMb)) };
  });
  const cpuOf = (count: number): number => sizes.find((size) => size.count === count)?.usPerChild ?? NaN;
  report({
    name: "fan-out",
    ratio: cpuOf(10_000) / cpuOf(1_000),
    target: 1.4,
    figures: Object.fromEntries(
      sizes.map(({ count, wallMs, usPerChild, peakMb }) => [
        `children_${count}`,
        { cpu_us_per_child: round(usPerChild, 1), wall_ms: round(wallMs, 1), peak_rss_mb: Math.round(peakMb) },
      ]),
    ),
  });
} else console.log(JSON.stringify(await fanOut(Number(only))));
