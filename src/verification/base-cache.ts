// Remembers how checks ended on a base: a file for each tree, check and setup, in a folder that never holds more than so many.

import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";

import { z } from "zod";

import type { CheckRun } from "../core/check-outcome.ts";
import { readPrivateFile, replacePrivateFile } from "../files/private-file.ts";

/** Outcomes that the same files give again. */
const CachedRun = z.object({
  outcome: z.enum(["passed", "failed"]),
  exit_code: z.int().nullable(),
  duration_ms: z.int().nonnegative(),
  tests: z.object({ runner: z.string(), passed: z.int(), failed: z.int(), skipped: z.int() }).nullable(),
  reason: z.string(),
});

export interface BaseCache {
  read(key: string): CheckRun | undefined;
  write(key: string, run: CheckRun): void;
}

const ending = ".json";

/** `folder` is private to Tutti. A file that cannot be read is as good as none, since the check can be run again. */
export function openBaseCache(folder: string, mostFiles = 500): BaseCache {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  return {
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
    .update(JSON.stringify([1, tree, argv, cwd, network, timeoutMs, setup]))
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
