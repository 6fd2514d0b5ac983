// Builds the dashboard as it is published, from the sources as they are.

import { spawnSync } from "node:child_process";
import { join } from "node:path";

const project = join(import.meta.dirname, "..", "..");

/** Into dist/web, from where a daemon that runs from the sources serves it. Takes about a second. */
export function buildDashboard(): void {
  const vite = join(project, "node_modules", "vite", "bin", "vite.js");
  const built = spawnSync(process.execPath, [vite, "build", join(project, "web"), "--logLevel", "error"], {
    cwd: project,
    encoding: "utf8",
  });
  if (built.status !== 0) throw new Error(`the dashboard was not built: ${built.stderr}`);
}
