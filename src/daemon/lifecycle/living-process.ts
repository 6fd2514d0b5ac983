// Whether one process, named by pid and start, still lives, and waiting for its end.

import { setTimeout as sleep } from "node:timers/promises";

import { processTable } from "../../runner/process/process-table.ts";

export interface ProcessName {
  readonly pid: number;
  readonly start: string;
}

/** This process. */
export async function ownName(): Promise<ProcessName> {
  return { pid: process.pid, start: (await processTable.start(process.pid)) ?? "" };
}

/** One that has ended and was not fetched by its parent lives no more. */
export async function lives({ pid, start }: ProcessName): Promise<boolean> {
  const entry = (await processTable.list()).find((each) => each.pid === pid);
  return entry !== undefined && entry.start === start && !entry.ended;
}

const pollMs = 50;

/** False when it still lives after `ms`. */
export async function ended(name: ProcessName, ms: number): Promise<boolean> {
  for (const until = Date.now() + ms; await lives(name); await sleep(pollMs)) {
    if (Date.now() >= until) return false;
  }
  return true;
}
