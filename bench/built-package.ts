// The package as it is published, built into a folder of its own.
import { spawnSync } from "node:child_process";
import { cpSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { bundle, commandEntries } from "../scripts/bundle.ts";

const root = join(import.meta.dirname, "..");

export async function buildInto(folder: string): Promise<void> {
  await bundle(commandEntries, join(folder, "dist", "bundle"));
  for (const part of ["bin", "package.json", "examples"])
    cpSync(join(root, part), join(folder, part), { recursive: true });
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
}

/** A benchmark and what it stands on, built as the package is, so that it runs without the compiler in its memory. */
export function buildBenchmark(name: string, folder: string): string {
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  cpSync(join(root, "package.json"), join(folder, "package.json"));
  const config = join(folder, "tsconfig.json");
  writeFileSync(
    config,
    JSON.stringify({
      extends: join(root, "tsconfig.build.json"),
      compilerOptions: { rootDir: root, outDir: folder, declaration: false },
      include: [join(root, "bench", `${name}.bench.ts`)],
      exclude: [],
    }),
  );
  compile(["-p", config]);
  return join(folder, "bench", `${name}.bench.js`);
}

function compile(args: readonly string[]): void {
  const built = spawnSync("tsc", args, { cwd: root });
  if (built.status !== 0)
    throw new Error(`the build failed: ${String(built.error ?? built.stdout)}; run \`npm run bench\``);
}
