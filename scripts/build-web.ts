// Builds the dashboard into dist/web/ with Vite. `--if-needed`: only if a source is newer than what was built, and a failure does not count.
import { spawnSync } from "node:child_process";
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";

const root = join(import.meta.dirname, "..");
/** What the dashboard is made of. */
const sources = ["web", "src/client", "src/protocol", "src/core", "package-lock.json"];
const built = join(root, "dist", "web", "index.html");
/** A build takes a few seconds; one that hangs must not keep anybody waiting. */
const patienceMs = 180_000;

/** Returns what went wrong; undefined when the dashboard is built. */
export function buildWeb(): string | undefined {
  const run = spawnSync(process.execPath, [join(root, "node_modules", "vite", "bin", "vite.js"), "build", "web"], {
    cwd: root,
    encoding: "utf8",
    timeout: patienceMs,
  });
  if (run.status === 0) return undefined;
  if (run.error !== undefined) return run.error.message;
  return `${run.stdout}${run.stderr}`.trim().split("\n").slice(-15).join("\n");
}

function isUpToDate(): boolean {
  const made = statSync(built, { throwIfNoEntry: false })?.mtimeMs;
  return made !== undefined && sources.every((source) => newest(join(root, source)) <= made);
}

function newest(path: string): number {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined || !found.isDirectory()) return found?.mtimeMs ?? 0;
  const inside = readdirSync(path).filter((name) => name !== "node_modules" && !/\.test\.tsx?$/.test(name));
  return Math.max(0, ...inside.map((name) => newest(join(path, name))));
}

if (import.meta.main) {
  const ifNeeded = process.argv.includes("--if-needed");
  if (!ifNeeded || !isUpToDate()) {
    console.error("building the dashboard …");
    const problem = buildWeb();
    if (problem !== undefined) {
      const meanwhile = ifNeeded ? "; the daemon starts without it" : "";
      console.error(`the dashboard could not be built${meanwhile}. \`npm run build:web\` tries again.\n${problem}`);
      if (!ifNeeded) process.exitCode = 1;
    }
  }
}
