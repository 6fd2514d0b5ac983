// Remembers how checks ended: on a base in a file for each tree, check and setup, and on an attempt in memory alone.

import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";

import { z } from "zod";

import type { CheckRun } from "../core/check-outcome.ts";
import type { CheckFact, SuspectLine } from "../protocol/task/evidence.ts";
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
  /** Lines of the work that have to be looked at because of what this check holds it against. */
  readonly seen?: readonly SuspectLine[];
}

/** What to look for, and what to do where it is not known. */
interface BaseSearch {
  /** Any of these will do. */
  readonly keys: readonly string[];
  /** Under which others can wait for it while `run` is under way. */
  readonly runKey: string;
  /** Under which the outcome is kept. */
  readonly keep: (run: CheckRun) => string;
  readonly run: () => Promise<CheckRun | undefined>;
  /** Called before each wait for a run that another verification has begun. */
  readonly onWait: () => void;
  readonly signal: AbortSignal;
}

export interface BaseCache {
  /** Verifications that want the same at the same time share one run. */
  find(search: BaseSearch): Promise<CheckRun | undefined>;
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
  const underWay = new Map<string, Promise<void>>();
  const read = (key: string): CheckRun | undefined => {
    try {
      const text = readPrivateFile(join(folder, key + ending));
      return text === undefined ? undefined : { ...CachedRun.parse(JSON.parse(text)), output_tail: "" };
    } catch {
      return undefined;
    }
  };
  const write = (key: string, run: CheckRun): void => {
    const kept = CachedRun.safeParse(run);
    if (!kept.success) return;
    removeOldest(folder, mostFiles - 1);
    replacePrivateFile(join(folder, key + ending), `${JSON.stringify(kept.data)}\n`);
  };
  return {
    attempts: {
      get: (key) => attempts.get(key),
      set(key, observed) {
        const [oldest] = attempts.keys();
        if (attempts.size >= mostAttempts && oldest !== undefined) attempts.delete(oldest);
        attempts.set(key, observed);
      },
    },
    write,
    async find({ keys, runKey, keep, run, onWait, signal }) {
      for (;;) {
        const known = keys.map(read).find((each) => each !== undefined);
        if (known !== undefined) return known;
        const other = keys.map((key) => underWay.get(key)).find((each) => each !== undefined);
        if (other === undefined) break;
        onWait();
        await orAborted(other, signal);
      }
      const running = run();
      // What was canceled or cannot be kept is no outcome for those that wait: the first of them runs it itself.
      const over = running.then(
        () => undefined,
        () => undefined,
      );
      underWay.set(runKey, over);
      try {
        const outcome = await running;
        if (outcome !== undefined) write(keep(outcome), outcome);
        return outcome;
      } finally {
        underWay.delete(runKey);
      }
    },
  };
}

async function orAborted(promise: Promise<void>, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const abort = (): void => reject(signal.reason);
  signal.addEventListener("abort", abort);
  try {
    await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener("abort", abort);
  }
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
