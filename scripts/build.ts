// Builds dist/ from nothing, so that no file of an earlier build can be published: the library with tsc, the command as a bundle, the dashboard.
import { spawnSync } from "node:child_process";
import { rmSync } from "node:fs";
import { join } from "node:path";

import { buildWeb } from "./build-web.ts";
import { bundle, commandEntries } from "./bundle.ts";

const root = join(import.meta.dirname, "..");
rmSync(join(root, "dist"), { recursive: true, force: true });
const tsc = spawnSync("tsc", ["-p", "tsconfig.build.json"], { cwd: root, stdio: "inherit" });
if (tsc.error) console.error(`could not run tsc: ${tsc.error.message}; run it through \`npm run build\``);
process.exitCode = tsc.status ?? 1;
if (tsc.status === 0) {
  await bundle(commandEntries, join(root, "dist", "bundle"));
  const problem = buildWeb();
  if (problem !== undefined) {
    console.error(`the dashboard could not be built:\n${problem}`);
    process.exitCode = 1;
  }
}
