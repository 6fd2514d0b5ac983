// Searches a workspace in a thread that is terminated at a deadline, so that no pattern or folder can block the process.

import { availableParallelism } from "node:os";
import { extname } from "node:path";
import { Worker } from "node:worker_threads";

import { TuttiError } from "../../protocol/error.ts";
import type { SearchEnd, SearchJob, SearchReport, SearchResult } from "./search-worker.ts";

export interface SearchOutcome {
  readonly found: readonly SearchResult[];
  /** Undefined when the deadline passed before the search was complete. */
  readonly end: SearchEnd | undefined;
}

/** How many threads run at a time, for all tasks together. */
const maxThreads = Math.max(2, availableParallelism());
let running = 0;
const waiting: (() => void)[] = [];

/** The deadline counts from the start of the thread, not from the time spent waiting for one. */
export async function searchWorkspace(
  job: SearchJob,
  { signal, deadlineMs }: { readonly signal: AbortSignal; readonly deadlineMs: number },
): Promise<SearchOutcome> {
  while (running >= maxThreads) await new Promise<void>((resolve) => waiting.push(resolve));
  running += 1;
  try {
    signal.throwIfAborted();
    return await searchInThread(job, signal, deadlineMs);
  } finally {
    running -= 1;
    waiting.shift()?.();
  }
}

async function searchInThread(job: SearchJob, signal: AbortSignal, deadlineMs: number): Promise<SearchOutcome> {
  // The build changes the extension of both files alike.
  const url = new URL(`./search-worker${extname(import.meta.url)}`, import.meta.url);
  const worker = new Worker(url, {
    workerData: job,
    env: {},
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: 512 },
  });
  const found: SearchResult[] = [];
  let timer: NodeJS.Timeout | undefined;
  let stop: (() => void) | undefined;
  try {
    const end = await new Promise<SearchEnd | undefined>((resolve, reject) => {
      worker.on("message", (report: SearchReport) => {
        if ("end" in report) resolve(report.end);
        else found.push(...report.found);
      });
      worker.once("error", (cause) => reject(new TuttiError("io", `the search failed: ${String(cause)}`, { cause })));
      worker.once("exit", () => reject(new TuttiError("io", "the search ended before it was complete")));
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
