// Kills a process at random instants, starts it again, and checks at the end that nothing was lost, repeated or doubled.
// node test/crash/crash.ts --kills 200 --seed 1 [--store postgres]

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { parseArgs } from "node:util";

import { check, checkShared, type Verdict } from "./check-after-crash.ts";
import { startPostgres } from "../support/postgres-server.ts";
import { randomFrom } from "../support/seeded-random.ts";

const script = join(import.meta.dirname, "killed-process.ts");
/** A process that does not come up or does not finish in this time is a failure of its own. */
const patienceMs = 120_000;

interface Process {
  readonly child: ChildProcess;
  readonly said: (word: "opened" | "ready") => Promise<void>;
  readonly ended: Promise<number | NodeJS.Signals | null>;
  readonly errors: () => string;
}

/** One kill in four hits the recovery, the others the work after it. */
const duringRecovery = 0.25;

export interface CrashOptions {
  readonly kills: number;
  readonly seed: number;
  /** Instead of a state folder: the process is a node over a PostgreSQL of its own. */
  readonly onPostgres?: boolean;
}

export async function crash(options: CrashOptions): Promise<Verdict> {
  const server = options.onPostgres === true ? startPostgres() : undefined;
  const address = server === undefined ? undefined : { url: server.url, schema: "crash" };
  const database = address === undefined ? [] : [address.url, address.schema];
  const folder = mkdtempSync(join(tmpdir(), "tutti-crash-"));
  const random = randomFrom(options.seed);
  try {
    for (let epoch = 1; epoch <= options.kills; epoch += 1) {
      const process = run(folder, [String(epoch), String(options.seed), "work", ...database]);
      const inRecovery = random() < duringRecovery;
      await process.said(inRecovery ? "opened" : "ready");
      await pause(inRecovery ? random() * 25 : 2 + random() * 300);
      process.child.kill("SIGKILL");
      const end = await process.ended;
      if (end !== "SIGKILL") throw new Error(`it ended by itself (${end}) in run ${epoch}:\n${process.errors()}`);
    }
    const last = run(folder, [String(options.kills + 1), String(options.seed), "finish", ...database]);
    const end = await Promise.race([last.ended, pause(patienceMs, "late" as const, { ref: false })]);
    if (end !== 0) {
      last.child.kill("SIGKILL");
      await last.ended;
    }
    const verdict =
      address === undefined ? check(folder, options.kills) : await checkShared(folder, options.kills, address);
    if (end === 0) return verdict;
    return { ...verdict, problems: [`the last run ended with ${end}: ${last.errors()}`, ...verdict.problems] };
  } finally {
    server?.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

export function isClean({ tally, problems }: Verdict): boolean {
  return tally.lost + tally.repeated + tally.doubled + tally.unfinished === 0 && problems.length === 0;
}

function run(folder: string, args: readonly string[]): Process {
  const child = spawn(process.execPath, [script, folder, ...args], { stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  let errors = "";
  child.stdout.on("data", (chunk: Buffer) => (output += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (errors += chunk.toString()));
  const ended = once(child, "close").then(
    ([code, signal]: (number | NodeJS.Signals | null)[]) => signal ?? code ?? null,
  );
  const said = async (word: string): Promise<void> => {
    const lines = (): boolean => output.split("\n").includes(word);
    while (!lines()) {
      const over = await Promise.race([once(child.stdout, "data").then(() => false), ended.then(() => true)]);
      if (over && !lines()) throw new Error(`it ended before it was ${word}:\n${errors}`);
    }
  };
  return { child, said, ended, errors: () => errors };
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: {
      kills: { type: "string", default: "200" },
      seed: { type: "string", default: "1" },
      store: { type: "string", default: "sqlite" },
    },
  });
  const onPostgres = values.store === "postgres";
  const verdict = await crash({ kills: Number(values.kills), seed: Number(values.seed), onPostgres });
  for (const problem of verdict.problems) console.error(problem);
  console.log(JSON.stringify(verdict.figures));
  console.log(JSON.stringify(verdict.tally));
  process.exitCode = isClean(verdict) ? 0 : 1;
}
