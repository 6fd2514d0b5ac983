// How much starting costs: the built `tutti route` on one handoff against `node -e 0`.
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { buildInto } from "./built-package.ts";
import { report, round } from "./measure.ts";

const folder = mkdtempSync(join(tmpdir(), "tutti-bench-"));
try {
  buildInto(folder);

  const commands = {
    node: `"${process.execPath}" -e 0`,
    route: `"${process.execPath}" bin/tutti.js route examples/handoff.toon --policy examples/policy.toon`,
  };
  const best = { node: Infinity, route: Infinity };
  for (let turn = 0; turn < 8; turn += 1) {
    for (const name of ["node", "route"] as const) best[name] = Math.min(best[name], cpuMs(commands[name], 5));
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

/** CPU milliseconds of one run, from bash's own accounting of `times` runs. */
function cpuMs(command: string, times: number): number {
  const script = `TIMEFORMAT="%3U %3S"; time { for i in $(seq ${times}); do ${command} >/dev/null || exit 1; done; }`;
  const shell = spawnSync("bash", ["-c", script], { cwd: folder, encoding: "utf8" });
  const [user, system] = shell.stderr.trim().split(/\s+/).slice(-2).map(Number);
  if (shell.status !== 0 || user === undefined || system === undefined)
    throw new Error(`${command} failed: ${shell.stderr}`);
  return ((user + system) * 1000) / times;
}
