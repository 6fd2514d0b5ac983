// Identifies a process by its pid and start time, since pids are reused; whether it still runs, and waiting for its exit.

import { processTable } from "../../runner/shared/process/process-table.ts";
import { pollUntil } from "./poll-until.ts";

export interface ProcessIdentity {
  readonly pid: number;
  /** When it started, as the system reports it. */
  readonly start: string;
}

export async function ownProcess(): Promise<ProcessIdentity> {
  return { pid: process.pid, start: (await processTable.start(process.pid)) ?? "" };
}

/** A process that has exited does not run, even if its parent has not collected its status yet. */
export async function isRunning({ pid, start }: ProcessIdentity): Promise<boolean> {
  const entry = (await processTable.list()).find((each) => each.pid === pid);
  return entry !== undefined && entry.start === start && !entry.ended;
}

/** Returns false if the process still runs after `ms`. */
export async function waitForExit(identity: ProcessIdentity, ms: number): Promise<boolean> {
  const exited = await pollUntil(ms, async () => ((await isRunning(identity)) ? undefined : true));
  return exited === true;
}
