// Processes of `tutti up` in a folder of their own, watched and signalled as a service manager would do it.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { type FoundDaemon, probeDaemon } from "../../src/daemon/lifecycle/find-daemon.ts";
import { stopDaemon } from "../../src/daemon/lifecycle/stop-daemon.ts";
import type { Cleanup } from "./temp-folder.ts";

const bin = join(import.meta.dirname, "..", "..", "bin", "tutti.js");
const patienceMs = 240_000;

export interface UpProcess {
  readonly child: ChildProcess;
  readonly found: FoundDaemon;
  /** Its exit status or the signal that ended it. */
  readonly ended: Promise<number | string>;
  readonly said: () => string;
}

export interface UpScene {
  readonly folder: string;
  readonly state: string;
  /** Resolves when it answers. */
  readonly up: (options?: {
    readonly node?: readonly string[];
    readonly args?: readonly string[];
    /** Folders that are empty on the machine of this process. */
    readonly hides?: readonly string[];
  }) => Promise<UpProcess>;
  readonly launch: (command: string, args: readonly string[]) => ChildProcess;
}

/** Whatever daemon is left on the state when the test ends is ended, detached ones too. */
export function upScene(t: Cleanup): UpScene {
  const folder = mkdtempSync(join(tmpdir(), "tutti-up-"));
  const state = join(folder, "state");
  const started = new Set<ChildProcess>();
  t.after(async () => {
    await stopDaemon(state, { force: true });
    for (const child of started) child.kill("SIGKILL");
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  });
  const launch = (command: string, args: readonly string[]): ChildProcess => {
    const env = { PATH: process.env["PATH"], HOME: folder, TUTTI_COMMAND: "tutti", NO_COLOR: "1" };
    const child = spawn(command, args, { cwd: folder, env, stdio: ["ignore", "pipe", "pipe"] });
    started.add(child);
    child.on("exit", () => started.delete(child));
    return child;
  };
  return {
    folder,
    state,
    launch,
    async up({ node = [], args = [], hides = [] } = {}) {
      const usual = ["--state", state, "--cwd", folder, "--json", ...(args.includes("--port") ? [] : ["--port", "0"])];
      const [command, before] = elsewhere(hides);
      const child = launch(command, [...before, ...node, bin, "up", ...usual, ...args]);
      const { ended, said } = watched(child);
      let end: number | string | undefined;
      void ended.then((how) => (end = how));
      for (const until = Date.now() + patienceMs; Date.now() < until; await sleep(30)) {
        if (end !== undefined) throw new Error(`it ended with ${end}: ${said()}`);
        const found = await probeDaemon(state);
        if (found?.daemon.pid === child.pid && found !== undefined) return { child, found, ended, said };
      }
      throw new Error(`it did not come up: ${said()}`);
    },
  };
}

/** A program sees the folders empty, as on another machine that does not have what is in them. It has the id of the process. */
function elsewhere(hides: readonly string[]): readonly [string, readonly string[]] {
  if (hides.length === 0) return [process.execPath, []];
  const mount = `while [ "$1" != -- ]; do mount -t tmpfs none "$1" || exit 1; shift; done; shift; exec "$@"`;
  return ["unshare", ["-rm", "sh", "-c", mount, "sh", ...hides, "--", process.execPath]];
}

export function watched(child: ChildProcess): { ended: Promise<number | string>; said: () => string } {
  let heard = "";
  const hear = (chunk: Buffer): void => {
    heard += chunk.toString();
  };
  child.stdout?.on("data", hear);
  child.stderr?.on("data", hear);
  const ended = once(child, "close").then(([code, signal]: (number | string | null)[]) => signal ?? code ?? "nothing");
  return { ended, said: () => heard };
}

/** An invocation whose one reply takes this long. */
export function slowInvocation(folder: string, delayMs: number): string {
  const file = join(folder, `slow-${delayMs}.json`);
  writeFileSync(
    file,
    JSON.stringify({
      invocation: {
        targets: [
          {
            agent: { type: "named", agent_id: "slow" },
            message: { role: "user", parts: [{ part_type: "text", data: "Take your time." }] },
          },
        ],
      },
      agents: { slow: { instructions: "You take your time." } },
      script: { rules: [{ delay_ms: delayMs, final: "Done." }] },
    }),
  );
  return file;
}
