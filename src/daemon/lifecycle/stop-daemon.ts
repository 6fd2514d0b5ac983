// Stops the daemon of a state folder: asks it to stop, or kills it if forced to, and waits until it has ended.

import { service } from "../../client/call.ts";
import { TuttiError } from "../../protocol/error.ts";
import { readDaemonFile } from "./daemon-file.ts";
import { defaultGraceMs } from "./default-grace.ts";
import { type FoundDaemon, probeDaemon, processIn } from "./find-daemon.ts";
import { readLockOwner } from "./lock-owner.ts";
import { isRunning, type ProcessIdentity, waitForExit } from "./process-identity.ts";

export interface StopOptions {
  readonly graceMs?: number;
  readonly force?: boolean;
}

/** How long closing may take after the grace time. */
const closingMs = 20_000;

/** Returns false if no daemon was running. When it has ended, the system has freed the state folder's lock. */
export async function stopDaemon(folder: string, { graceMs = defaultGraceMs, force }: StopOptions): Promise<boolean> {
  if (force === true) return killDaemon(folder);
  const found = await probeDaemon(folder);
  if (found === undefined) return false;
  try {
    await askToStop(found, graceMs);
  } catch (thrown) {
    // It may have been stopping already, and ended before it could answer.
    if (!(await waitForExit(found.process, graceMs))) throw thrown;
  }
  if (await waitForExit(found.process, graceMs + closingMs)) return true;
  throw stillRunning(found.process);
}

/** Kills the process only if both daemon.json and the note beside the lock name it, since pids are reused. */
async function killDaemon(folder: string): Promise<boolean> {
  const file = readDaemonFile(folder);
  if (file === undefined) return false;
  const daemon = processIn(file);
  if (readLockOwner(folder)?.pid !== daemon.pid || !(await isRunning(daemon))) return false;
  process.kill(daemon.pid, "SIGKILL");
  if (await waitForExit(daemon, closingMs)) return true;
  throw stillRunning(daemon);
}

async function askToStop({ daemon, key, fetch: send }: FoundDaemon, graceMs: number): Promise<void> {
  const remote = service({ url: daemon.url, bearer: () => key, fetch: send });
  await remote.call("shutdown", { body: { grace_ms: graceMs } });
}

function stillRunning({ pid }: ProcessIdentity): TuttiError {
  const message = `the daemon, process ${pid}, has not ended yet; wait for it, or kill it with \`tutti down --force\`: nothing that was acknowledged is lost`;
  return new TuttiError("busy", message, { details: { pid } });
}
