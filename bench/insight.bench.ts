// What the index for search and charts costs the engine: runs per second with every step on disk while the index follows,
// against the same runs without it, both with one reader of events, as a page in a browser is one.
import { openKit, type Kit } from "../test/support/http-kit.ts";
import { callTools, inLanes, newTask } from "./bench-engine.ts";
import { type Cost, costOf, leastCost, report, round } from "./measure.ts";

const [turns, total, atOnce, rounds] = [10, 1_600, 64, 5];

interface Contender {
  readonly kit: Kit;
  readonly costs: Cost[];
}

async function contender(isIndexed: boolean): Promise<Contender> {
  const kit = await openKit({ runners: { loop: (durable) => callTools(durable, turns) } });
  kit.state.feed.subscribe(() => undefined);
  if (isIndexed) await kit.state.insight.ask({ kind: "position" });
  return { kit, costs: [] };
}

async function run({ state }: Kit): Promise<void> {
  await inLanes(total, atOnce, async () => {
    const { task } = await state.engine.start(newTask("loop"));
    const { status } = await state.engine.result(task);
    if (status !== "completed") throw new Error(`a run ended as ${status}`);
  });
}

const [plain, indexed] = [await contender(false), await contender(true)];
for (let round = -1; round < rounds; round += 1) {
  for (const { kit, costs } of [plain, indexed]) {
    const cost = await costOf(() => run(kit));
    // What it has not read yet is part of what it costs, and must not be read while the other is measured.
    const rest = await costOf(async () => (kit === indexed.kit ? caughtUp(kit) : undefined));
    if (round >= 0) costs.push({ wallMs: cost.wallMs, cpuMs: cost.cpuMs + rest.cpuMs });
  }
}

async function caughtUp({ state }: Kit): Promise<void> {
  for (let tries = 0; tries < 1_000; tries += 1) {
    if ((await state.insight.ask({ kind: "position" })).behind === 0) return;
  }
  throw new Error("the index does not catch up");
}

const [without, with_] = [leastCost(plain.costs), leastCost(indexed.costs)];
report({
  name: "insight: runs per second with the index against without it",
  ratio: without.wallMs / with_.wallMs,
  target: 0.95,
  bound: "at least",
  figures: {
    runs_per_s: Math.round((total * 1000) / with_.wallMs),
    without_per_s: Math.round((total * 1000) / without.wallMs),
    cpu_ms: round(with_.cpuMs / total),
    without_cpu_ms: round(without.cpuMs / total),
  },
});
await plain.kit.close();
await indexed.kit.close();
