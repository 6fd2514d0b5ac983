// Large trees on a node over PostgreSQL: spawning and joining 10,000 children against the embedded store, and how long it takes
// until a tree of 100,000 lines goes on at another node, against three seconds. Wall time, best of several turns.
import { mkdtempSync } from "node:fs";
import { join } from "node:path";

import { z } from "zod";

import type { Durable } from "../src/ports.ts";
import { callTools, inFolder, newChildren, newTask, openBench, spawnAndJoin } from "./bench-engine.ts";
import { openBenchNode, withPostgres } from "./bench-node.ts";
import { costOf, leastCost, report, round } from "./measure.ts";

const [children, lines, takeoverMs] = [10_000, 100_000, 3_000];
const [lanes, perLane] = [50, lines / 50];

let size = 500;
let writing = 0;
const loops = {
  parent: (durable: Durable) => spawnAndJoin(durable, newChildren(size, "child")),
  child: (durable: Durable) => callTools(durable, 1),
  large: (durable: Durable) => spawnAndJoin(durable, newChildren(lanes, "long")),
  async long(durable: Durable) {
    const found = await durable.restore(z.number());
    for (let step = found?.state ?? 0; step < perLane; step += 1) {
      await durable.step(`s${step}`, { repeatable: true, schema: z.string() }, () => "x".repeat(100));
      durable.save(`at${step}`, step + 1);
    }
    writing += 1;
    await durable.wait("end", { label: "for ever", schema: z.unknown() });
  },
};

await withPostgres((server) =>
  inFolder(async (folder) => {
    const embedded = openBench(mkdtempSync(join(folder, "embedded-")), loops);
    const address = { url: server.url, schema: "trees" };
    const node = await openBenchNode(address, { name: "one", folder, loops });
    const contenders = { embedded, node };
    const costs = {
      embedded: [] as Awaited<ReturnType<typeof costOf>>[],
      node: [] as Awaited<ReturnType<typeof costOf>>[],
    };
    for (const turn of [0, 1, 2, 3]) {
      size = turn === 0 ? 500 : children;
      for (const name of ["embedded", "node"] as const) {
        const cost = await costOf(() => contenders[name].complete(newTask("parent")));
        if (turn > 0) costs[name].push(cost);
      }
    }
    const [floor, own] = [leastCost(costs.embedded), leastCost(costs.node)];
    report({
      name: "cluster-fan-out",
      ratio: own.wallMs / floor.wallMs,
      target: 3,
      figures: { children, wall_ms: round(own.wallMs, 0), embedded_ms: round(floor.wallMs, 0) },
    });
    await embedded.close();

    await node.engine.start(newTask("large"));
    for (const end = Date.now() + 120_000; writing < lanes; await new Promise((resolve) => setTimeout(resolve, 50))) {
      if (Date.now() > end) throw new Error("the large tree was not written");
    }
    await node.close();
    const times: number[] = [];
    for (const name of ["two", "three", "four"]) {
      // It joins, takes the tree over and goes on with it.
      const start = performance.now();
      const taker = await openBenchNode(address, { name, folder, loops });
      await taker.node.beat();
      times.push(performance.now() - start);
      const [log] = await taker.node.node.rows(
        "SELECT count(*) AS n FROM log l JOIN trees t ON t.open AND l.id / 1048576 = t.root / 1048576",
      );
      if (Number(log?.["n"]) < lines) throw new Error(`the tree has ${String(log?.["n"])} lines`);
      await taker.close();
    }
    const ms = Math.min(...times);
    report({
      name: "cluster-takeover",
      ratio: ms / takeoverMs,
      target: 1,
      figures: { lines, wall_ms: round(ms, 0), all_ms: times.map((each) => round(each, 0)) },
    });
  }),
);
