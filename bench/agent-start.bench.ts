// What it costs to start a process that could run agents and has none to run: the built loop with its tools, against `node -e 0`.
// Beside it, what the validation library alone costs of that, and the same process with an engine on a new state folder.
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { report, round } from "./measure.ts";

const root = join(import.meta.dirname, "..");
const folder = mkdtempSync(join(tmpdir(), "tutti-bench-"));

const idle = `
import { mkdtempSync, rmSync } from "node:fs";
import { systemClock } from "./dist/engine/clock.js";
import { Engine } from "./dist/engine/engine.js";
import { rehearsalModel } from "./dist/model/rehearsal/rehearsal-model.js";
import { invocationRunner } from "./dist/runner/invocation/invocation-runner.js";
import { localRunner } from "./dist/runner/local/local-runner.js";
import { openStore } from "./dist/store/sqlite/sqlite-store.js";

const state = mkdtempSync("state-");
const store = openStore(state);
const local = localRunner({ model: (file) => rehearsalModel(file.script) });
const engine = new Engine({ store, clock: systemClock, runners: { local, invocation: invocationRunner() } });
await engine.recover();
await engine.stop();
store.close();
rmSync(state, { recursive: true });
`;

try {
  const built = spawnSync("tsc", ["-p", "tsconfig.build.json", "--outDir", join(folder, "dist")], { cwd: root });
  if (built.status !== 0)
    throw new Error(`the build failed: ${String(built.error ?? built.stdout)}; run \`npm run bench\``);
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
  writeFileSync(join(folder, "idle.js"), idle);
  writeFileSync(join(folder, "import.js"), 'import "./dist/agent/loop.js";\n');
  writeFileSync(join(folder, "zod.js"), 'import "zod";\n');

  const commands = { node: "-e 0", zod: "zod.js", loop: "import.js", engine: "idle.js" };
  const best = { node: Infinity, zod: Infinity, loop: Infinity, engine: Infinity };
  for (let turn = 0; turn < 8; turn += 1) {
    for (const name of ["node", "zod", "loop", "engine"] as const) {
      best[name] = Math.min(best[name], cpuMs(`"${process.execPath}" ${commands[name]}`, 5));
    }
  }
  report({
    name: "agent-start",
    ratio: best.loop / best.node,
    target: 4,
    figures: {
      loop_cpu_ms: round(best.loop, 1),
      node_cpu_ms: round(best.node, 1),
      zod_alone_cpu_ms: round(best.zod, 1),
      with_engine_cpu_ms: round(best.engine, 1),
    },
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
