// How much starting costs: the built `tutti route` on one handoff against `node -e 0`.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { buildInto } from "./built-package.ts";
import { cpuOfCommand, report, round } from "./measure.ts";

const folder = mkdtempSync(join(tmpdir(), "tutti-bench-"));
try {
  await buildInto(folder);

  const commands = {
    node: `"${process.execPath}" -e 0`,
    route: `"${process.execPath}" bin/tutti.js route examples/handoff.toon --policy examples/policy.toon`,
  };
  const best = { node: Infinity, route: Infinity };
  for (let turn = 0; turn < 8; turn += 1) {
    for (const name of ["node", "route"] as const)
      best[name] = Math.min(best[name], cpuOfCommand(commands[name], 5, folder));
  }
  report({
    name: "start",
    ratio: best.route / best.node,
    target: 4,
    figures: { route_cpu_ms: round(best.route, 1), node_cpu_ms: round(best.node, 1) },
  });
} finally {
  rmSync(folder, { recursive: true, force: true });
}
