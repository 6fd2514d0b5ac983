// Has a thread of its own list or search a workspace, and ends it when its time is up: no pattern and no folder can hold up anybody else.

import { availableParallelism } from "node:os";
import { extname } from "node:path";
import { Worker } from "node:worker_threads";

import { TuttiError } from "../../protocol/error.ts";
import type { Found, SearchEnd, SearchJob, SearchReport } from "./search-worker.ts";

export interface SearchOutcome {
  readonly found: readonly Found[];
  /** Undefined when its time was up before it was through. */
  readonly end: SearchEnd | undefined;
}

/** Threads at a time, of all tasks together. */
const most = Math.max(2, availableParallelism());
let running = 0;
const waiting: (() => void)[] = [];

/** The deadline counts from when its turn comes. */
export async function searchWorkspace(
  job: SearchJob,
  { signal, deadlineMs }: { readonly signal: AbortSignal; readonly deadlineMs: number },
): Promise<SearchOutcome> {
  while (running >= most) await new Promise<void>((resolve) => waiting.push(resolve));
  running += 1;
  try {
    signal.throwIfAborted();
    return await searched(job, signal, deadlineMs);
  } finally {
    running -= 1;
    waiting.shift()?.();
  }
}

async function searched(job: SearchJob, signal: AbortSignal, deadlineMs: number): Promise<SearchOutcome> {
  // The build renames the file with all others.
  const url = new URL(`./search-worker${extname(import.meta.url)}`, import.meta.url);
  const worker = new Worker(url, {
    workerData: job,
    env: {},
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: 512 },
  });
  const found: Found[] = [];
  let timer: NodeJS.Timeout | undefined;
  let stop: (() => void) | undefined;
  try {
    const end = await new Promise<SearchEnd | undefined>((resolve, reject) => {
      worker.on("message", (report: SearchReport) => {
        if ("end" in report) resolve(report.end);
        else found.push(...report.found);
      });
      worker.once("error", (cause) => reject(new TuttiError("io", `the search failed: ${String(cause)}`, { cause })));
      worker.once("exit", () => reject(new TuttiError("io", "the search ended before it was through")));
      timer = setTimeout(resolve, deadlineMs, undefined);
      stop = () => reject(signal.reason);
      signal.addEventListener("abort", stop, { once: true });
    });
    return { found, end };
  } finally {
    clearTimeout(timer);
    if (stop !== undefined) signal.removeEventListener("abort", stop);
    await worker.terminate();
  }
}
