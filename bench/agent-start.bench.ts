// What it costs to start a process that could run agents and has none to run: the loop, its tools and an engine on a new state
// folder, against `node -e 0`. Beside it, what importing the loop costs of that, and the validation library alone.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { bundle } from "../scripts/bundle.ts";
import { cpuOfCommand, report, round } from "./measure.ts";

const root = join(import.meta.dirname, "..");
const folder = mkdtempSync(join(tmpdir(), "tutti-bench-"));

const idle = `
import { mkdtempSync, rmSync } from "node:fs";
import { systemClock } from "${root}/src/engine/clock.ts";
import { Engine } from "${root}/src/engine/engine.ts";
import { rehearsalModel } from "${root}/src/model/rehearsal/rehearsal-model.ts";
import { invocationRunner } from "${root}/src/runner/invocation/runner.ts";
import { localRunner } from "${root}/src/runner/local/runner.ts";
import { openStore } from "${root}/src/store/sqlite/sqlite-store.ts";

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
  // Built as the command is published: bundled, and loaded with the compiled form Node keeps.
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
  writeFileSync(join(folder, "idle.ts"), idle);
  await bundle(
    { loop: "src/agent/loop/loop.ts", idle: join(folder, "idle.ts"), zod: "node_modules/zod/index.js" },
    join(folder, "built"),
  );
  for (const name of ["loop", "idle", "zod"]) {
    const cache = JSON.stringify(join(folder, "cache"));
    writeFileSync(
      join(folder, `${name}.js`),
      `import module from "node:module";\nmodule.enableCompileCache(${cache});\nawait import("./built/${name}.js");\n`,
    );
  }

  const commands = { node: "-e 0", zod: "zod.js", loop: "loop.js", engine: "idle.js" };
  const best = { node: Infinity, zod: Infinity, loop: Infinity, engine: Infinity };
  for (let turn = 0; turn < 8; turn += 1) {
    for (const name of ["node", "zod", "loop", "engine"] as const) {
      best[name] = Math.min(best[name], cpuOfCommand(`"${process.execPath}" ${commands[name]}`, 5, folder));
    }
  }
  report({
    name: "agent-start",
    ratio: best.engine / best.node,
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
