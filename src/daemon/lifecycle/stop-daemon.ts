// Ends the daemon of a state folder: asks it to stop, or kills it when that was asked for, and waits until it is gone.

import { kill } from "node:process";

import { service } from "../../client/call.ts";
import { TuttiError } from "../../protocol/error.ts";
import { readDaemonFile } from "./daemon-file.ts";
import { type FoundDaemon, probeDaemon, processIn } from "./find-daemon.ts";
import { defaultGraceMs } from "./grace.ts";
import { ended, lives, type ProcessName } from "./living-process.ts";
import { lockOwner } from "./lock-owner.ts";

export interface StopOptions {
  readonly graceMs?: number;
  readonly force?: boolean;
}

/** What closing may take after the grace time. */
const closingMs = 20_000;

/** False when none was running. The system frees the state of a process that has ended. */
export async function stopDaemon(folder: string, { graceMs = defaultGraceMs, force }: StopOptions): Promise<boolean> {
  if (force === true) return killDaemon(folder);
  const found = await probeDaemon(folder);
  if (found === undefined) return false;
  try {
    await askToStop(found, graceMs);
  } catch (thrown) {
    // It may have been stopping already, and gone before it could answer.
    if (!(await ended(found.process, graceMs))) throw thrown;
  }
  if (await ended(found.process, graceMs + closingMs)) return true;
  throw stillThere(found.process);
}

/** Only a process that is the daemon, by the note beside the lock too: a pid may have been given to another since. */
async function killDaemon(folder: string): Promise<boolean> {
  const file = readDaemonFile(folder);
  if (file === undefined) return false;
  const name = processIn(file);
  if (lockOwner(folder)?.pid !== name.pid || !(await lives(name))) return false;
  kill(name.pid, "SIGKILL");
  if (await ended(name, closingMs)) return true;
  throw stillThere(name);
}

async function askToStop({ daemon, key, fetch: send }: FoundDaemon, graceMs: number): Promise<void> {
  const remote = service({ url: daemon.url, bearer: () => key, fetch: send });
  await remote.call("shutdown", { body: { grace_ms: graceMs } });
}

function stillThere({ pid }: ProcessName): TuttiError {
  const message = `the daemon, process ${pid}, has not ended; wait for it, or end it with \`tutti down --force\`, nothing that was acknowledged is lost`;
  return new TuttiError("busy", message, { details: { pid } });
}
