// Remembers how checks ended: on a base in a file for each tree, check and setup, and on an attempt in memory alone.

import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";

import { z } from "zod";

import type { CheckRun } from "../core/check-outcome.ts";
import type { CheckFact } from "../protocol/task/evidence.ts";
import { readPrivateFile, replacePrivateFile } from "../files/private-file.ts";

/** Outcomes that the same files give again. */
const CachedRun = z.object({
  outcome: z.enum(["passed", "failed"]),
  exit_code: z.int().nullable(),
  duration_ms: z.int().nonnegative(),
  tests: z.object({ runner: z.string(), passed: z.int(), failed: z.int(), skipped: z.int() }).nullable(),
  names: z.object({ passed: z.array(z.string()), failed: z.array(z.string()), complete: z.boolean() }).optional(),
  reason: z.string(),
});

/** What was observed of a check on an attempt, in comparison with its base. */
export interface ObservedRuns {
  readonly run: CheckRun;
  readonly base?: CheckRun | undefined;
  readonly changedFiles?: readonly string[];
  readonly withBaseFiles?: CheckRun | undefined;
  readonly withoutWork?: CheckRun | undefined;
  readonly canary?: CheckFact["canary"];
}

export interface BaseCache {
  read(key: string): CheckRun | undefined;
  write(key: string, run: CheckRun): void;
  /** Kept in memory, so that nothing that code of a session can write to decides. */
  readonly attempts: {
    get(key: string): ObservedRuns | undefined;
    set(key: string, observed: ObservedRuns): void;
  };
}

const mostAttempts = 200;

const ending = ".json";

/** `folder` is private to Tutti. A file that cannot be read is as good as none, since the check can be run again. */
export function openBaseCache(folder: string, mostFiles = 500): BaseCache {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const attempts = new Map<string, ObservedRuns>();
  return {
    attempts: {
      get: (key) => attempts.get(key),
      set(key, observed) {
        const [oldest] = attempts.keys();
        if (attempts.size >= mostAttempts && oldest !== undefined) attempts.delete(oldest);
        attempts.set(key, observed);
      },
    },
    read(key) {
      try {
        const text = readPrivateFile(join(folder, key + ending));
        return text === undefined ? undefined : { ...CachedRun.parse(JSON.parse(text)), output_tail: "" };
      } catch {
        return undefined;
      }
    },
    write(key, run) {
      const kept = CachedRun.safeParse(run);
      if (!kept.success) return;
      removeOldest(folder, mostFiles - 1);
      replacePrivateFile(join(folder, key + ending), `${JSON.stringify(kept.data)}\n`);
    },
  };
}

/** Everything that the outcome depends on. */
export function baseKey(parts: {
  readonly tree: string;
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly network: boolean;
  readonly timeoutMs: number;
  readonly setup: readonly unknown[];
}): string {
  const { tree, argv, cwd, network, timeoutMs, setup } = parts;
  return createHash("sha256")
    .update(JSON.stringify([2, tree, argv, cwd, network, timeoutMs, setup]))
    .digest("hex");
}

function removeOldest(folder: string, most: number): void {
  const files = readdirSync(folder).filter((name) => name.endsWith(ending));
  if (files.length <= most) return;
  const aged = files
    .map((name) => ({ name, at: statSync(join(folder, name), { throwIfNoEntry: false })?.mtimeMs ?? 0 }))
    .toSorted((one, other) => one.at - other.at);
  for (const { name } of aged.slice(0, files.length - most)) rmSync(join(folder, name), { force: true });
}
