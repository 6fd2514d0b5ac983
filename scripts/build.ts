// Builds dist/ from nothing, so that no file of an earlier build can be published: what runs in a browser and all types with tsc, the library and the command as bundles, the dashboard.
import { spawnSync } from "node:child_process";
import { rmSync } from "node:fs";
import { join } from "node:path";

import { buildWeb } from "./build-web.ts";
import { bundle, bundleLibrary, commandEntries } from "./bundle.ts";

const root = join(import.meta.dirname, "..");
rmSync(join(root, "dist"), { recursive: true, force: true });
const compile = (config: string): boolean => {
  const tsc = spawnSync("tsc", ["-p", config], { cwd: root, stdio: "inherit" });
  if (tsc.error) console.error(`could not run tsc: ${tsc.error.message}; run it through \`npm run build\``);
  return tsc.status === 0;
};
if (compile("tsconfig.build.json") && compile("tsconfig.types.json")) {
  await bundle(commandEntries, join(root, "dist", "bundle"));
  await bundleLibrary(join(root, "dist", "node"));
  const problem = buildWeb();
  if (problem !== undefined) {
    console.error(`the dashboard could not be built:\n${problem}`);
    process.exitCode = 1;
  }
} else process.exitCode = 1;
