// A real daemon for goals that are played: with programs of this machine, and with packages of the project for what needs them.

import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { execFileSync } from "node:child_process";

import type { Tutti } from "../../src/client/client.ts";
import { DaemonProcess } from "../e2e/daemon-process.ts";
import type { Tool } from "./trust-case.ts";

const root = join(import.meta.dirname, "..", "..");
const packages = join(root, "node_modules");
/** What a daemon of a person would find; none of it lies in a home folder. */
const path = [dirname(process.execPath), "/usr/local/bin", "/usr/bin", "/bin"].join(delimiter);

export interface TrustWorld {
  readonly client: Tutti;
  /** Processor time of the daemon and of all that it started and that has ended. */
  cpuMs(): number;
  close(): Promise<void>;
}

export async function openTrustWorld(tool?: Tool): Promise<TrustWorld> {
  const daemon = new DaemonProcess({ env: { PATH: path } });
  if (tool === "vitest") {
    const setup = [{ command: ["ln", "-s", packages, "node_modules"] }];
    mkdirSync(join(daemon.folder, ".tutti"), { mode: 0o700 });
    const config = { acp: { toolchains: [packages] }, workspaces: { setup } };
    writeFileSync(join(daemon.folder, ".tutti", "tutti.config.json"), JSON.stringify(config), { mode: 0o600 });
  }
  await daemon.up();
  return { client: daemon.client(), cpuMs: () => cpuOf(daemon.pid), close: () => daemon.close() };
}

const tickMs = 10;

/** Fields 14 to 17 of its `stat`, behind the name in brackets. */
function cpuOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks) * tickMs, 0);
}

/** Why cases with this program cannot be played here; undefined when they can. */
export function whyMissing(tool: Tool): string | undefined {
  switch (tool) {
    case "vitest":
      return existsSync(join(packages, "vitest")) ? undefined : "vitest is not installed";
    case "pytest":
      return succeeds("python3", "-m", "pytest", "--version") ? undefined : "pytest is not installed (python3-pytest)";
    case "go":
      return succeeds("go", "version") ? undefined : "go is not installed (golang-go)";
    case "cargo":
      return succeeds("cargo", "--version") ? undefined : "cargo is not installed (cargo)";
  }
}

function succeeds(program: string, ...args: readonly string[]): boolean {
  try {
    execFileSync(program, args, { env: { PATH: path }, stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}
