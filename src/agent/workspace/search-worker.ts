// The thread that goes through a workspace for `list` and `search`; it may be ended at any time, so it tells what it finds as it goes.

import { closeSync, readSync } from "node:fs";
import { parentPort, workerData } from "node:worker_threads";

import { isBinary, sampleBytes } from "./text-file.ts";
import { pathFilter, walk, type WalkedEntry } from "./workspace-walk.ts";

export interface SearchJob {
  readonly root: string;
  readonly names: readonly string[];
  readonly depth: number;
  readonly ignored: boolean;
  /** Only this entry of the folder. */
  readonly only?: string;
  readonly glob?: string;
  /** Most results. */
  readonly most: number;
  /** Lines to look for; absent, the entries themselves are the results. */
  readonly regex?: { readonly source: string; readonly flags: string };
}

export type Found =
  | { readonly path: string; readonly line: number; readonly text: string }
  | { readonly path: string; readonly kind: WalkedEntry["kind"]; readonly bytes?: number };

export interface SearchEnd {
  readonly files: number;
  /** Files that were not looked into: not text, or too large. */
  readonly skipped: number;
  readonly closed: readonly string[];
  readonly full: boolean;
}

export type SearchReport = { readonly found: readonly Found[] } | { readonly end: SearchEnd };

const largestFile = 16 * 2 ** 20;
const lineLength = 300;
const reportedAtOnce = 100;

function work(job: SearchJob, tell: (report: SearchReport) => void): void {
  const closed: string[] = [];
  const isAsked = pathFilter(job.glob);
  const regex = job.regex === undefined ? undefined : new RegExp(job.regex.source, job.regex.flags);
  let left = job.most;
  let files = 0;
  let skipped = 0;
  let batch: Found[] = [];
  const flush = (): void => {
    if (batch.length > 0) tell({ found: batch });
    batch = [];
  };
  const end = (full: boolean): void => {
    flush();
    tell({ end: { files, skipped, closed: closed.slice(0, 20), full } });
  };
  for (const entry of walk({ ...job, onTrouble: (path) => closed.push(path) })) {
    if (job.only !== undefined && entry.path !== job.only) continue;
    if (!isAsked(entry.path) || (regex !== undefined && entry.kind !== "file")) continue;
    const results = regex === undefined ? [described(entry)] : matchesIn(entry, regex);
    files += 1;
    if (results === undefined) skipped += 1;
    for (const result of results ?? []) {
      if (left === 0) return end(true);
      batch.push(result);
      left -= 1;
      // One at a time where a pattern may run for ever: what was found must be out before the next line is tried.
      if (regex !== undefined || batch.length >= reportedAtOnce) flush();
    }
  }
  end(false);
}

function described(entry: WalkedEntry): Found {
  const opened = entry.kind === "file" ? entry.open() : undefined;
  if (opened === undefined) return { path: entry.path, kind: entry.kind };
  closeSync(opened.fd);
  return { path: entry.path, kind: entry.kind, bytes: opened.size };
}

function matchesIn(entry: WalkedEntry, regex: RegExp): Iterable<Found> | undefined {
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

function* matchingLines(path: string, text: string, regex: RegExp): Generator<Found> {
  let number = 0;
  for (const line of text.split("\n")) {
    number += 1;
    const match = regex.exec(line);
    if (match !== null) yield { path, line: number, text: around(line, match.index) };
  }
}

/** A line of any length is shown around the match. */
function around(line: string, index: number): string {
  const text = line.endsWith("\r") ? line.slice(0, -1) : line;
  if (text.length <= lineLength) return text;
  const from = Math.max(0, Math.min(index - lineLength / 4, text.length - lineLength));
  const cut = text.slice(from, from + lineLength).toWellFormed();
  return `${from > 0 ? "…" : ""}${cut}${from + lineLength < text.length ? "…" : ""}`;
}

// The thread is given its job when it is made, by the one function that makes it.
const job: SearchJob = workerData;
work(job, (report) => parentPort?.postMessage(report));
