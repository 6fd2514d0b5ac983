// The worker thread that lists or searches a workspace. It may be terminated at any time, so it reports results as it finds them.

import { closeSync, readSync } from "node:fs";
import { parentPort, workerData } from "node:worker_threads";

import { readOffLimits } from "./off-limits.ts";
import { isBinary, sampleBytes } from "./text-file.ts";
import { pathFilter, walk, type WalkedEntry } from "./workspace-walk.ts";

export interface SearchJob {
  readonly root: string;
  readonly names: readonly string[];
  readonly depth: number;
  readonly ignored: boolean;
  /** Folders that are left out, by whatever path they are reached. */
  readonly offLimits: readonly string[];
  /** Search only this entry of the folder. */
  readonly only?: string;
  readonly glob?: string;
  /** The most results to report. */
  readonly most: number;
  /** What a line must match; when absent, the entries themselves are the results. */
  readonly regex?: { readonly source: string; readonly flags: string };
}

export type SearchResult =
  | { readonly path: string; readonly line: number; readonly text: string }
  | { readonly path: string; readonly kind: WalkedEntry["kind"]; readonly bytes?: number };

export interface SearchEnd {
  readonly files: number;
  /** How many files were not searched because they are not text or too large. */
  readonly skipped: number;
  /** Folders that could not be opened; at most twenty. */
  readonly closed: readonly string[];
  /** Whether there were more results than were asked for. */
  readonly full: boolean;
}

export type SearchReport = { readonly found: readonly SearchResult[] } | { readonly end: SearchEnd };

const largestFile = 16 * 2 ** 20;
const lineLength = 300;
const reportedAtOnce = 100;

function runSearch(job: SearchJob, report: (report: SearchReport) => void): void {
  const closed: string[] = [];
  const isWanted = pathFilter(job.glob);
  const regex = job.regex === undefined ? undefined : new RegExp(job.regex.source, job.regex.flags);
  let left = job.most;
  let files = 0;
  let skipped = 0;
  let batch: SearchResult[] = [];
  const flush = (): void => {
    if (batch.length > 0) report({ found: batch });
    batch = [];
  };
  const end = (full: boolean): void => {
    flush();
    report({ end: { files, skipped, closed: closed.slice(0, 20), full } });
  };
  const onUnreadable = (path: string): void => void closed.push(path);
  for (const entry of walk({ ...job, offLimits: readOffLimits(job.offLimits), onUnreadable })) {
    if (job.only !== undefined && entry.path !== job.only) continue;
    if (!isWanted(entry.path) || (regex !== undefined && entry.kind !== "file")) continue;
    const results = regex === undefined ? [describeEntry(entry)] : matchesIn(entry, regex);
    files += 1;
    if (results === undefined) skipped += 1;
    for (const result of results ?? []) {
      if (left === 0) return end(true);
      batch.push(result);
      left -= 1;
      // Reported one by one when there is a pattern, since it may hang on the next line and the thread be terminated.
      if (regex !== undefined || batch.length >= reportedAtOnce) flush();
    }
  }
  end(false);
}

function describeEntry(entry: WalkedEntry): SearchResult {
  const { path, kind, bytes } = entry;
  return kind === "file" ? { path, kind, bytes } : { path, kind };
}

function matchesIn(entry: WalkedEntry, regex: RegExp): Iterable<SearchResult> | undefined {
  const opened = entry.open();
  if (opened === undefined) return undefined;
  try {
    if (opened.size > largestFile) return undefined;
    const bytes = Buffer.alloc(opened.size);
    const length = readSync(opened.fd, bytes, 0, opened.size, 0);
    const content = bytes.subarray(0, length);
    if (isBinary(content.subarray(0, sampleBytes))) return undefined;
    return matchingLines(entry.path, content.toString("utf8"), regex);
  } finally {
    closeSync(opened.fd);
  }
}

function* matchingLines(path: string, text: string, regex: RegExp): Generator<SearchResult> {
  let number = 0;
  for (const line of text.split("\n")) {
    number += 1;
    const match = regex.exec(line);
    if (match !== null) yield { path, line: number, text: around(line, match.index) };
  }
}

/** The part of the line around the match, when the line is long. */
function around(line: string, index: number): string {
  const text = line.endsWith("\r") ? line.slice(0, -1) : line;
  if (text.length <= lineLength) return text;
  const from = Math.max(0, Math.min(index - lineLength / 4, text.length - lineLength));
  const cut = text.slice(from, from + lineLength).toWellFormed();
  return `${from > 0 ? "…" : ""}${cut}${from + lineLength < text.length ? "…" : ""}`;
}

// Set by searchWorkspace, the only function that starts this thread.
const job: SearchJob = workerData;
runSearch(job, (report) => parentPort?.postMessage(report));
