// What tests share that freeze or kill nodes in processes of their own.

import assert from "node:assert/strict";
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";

import { ask, connectTo, type DatabaseAddress, type Row } from "../../src/store/postgres/database-connection.ts";
import { killChild } from "../support/kill-process.ts";
import type { Cleanup } from "../support/temp-folder.ts";
import { until } from "../support/wait-until.ts";

export interface NodeProcess {
  readonly child: ChildProcess;
  /** What it has written so far, line by line. */
  readonly said: string[];
  /** Resolves when it has written the word. */
  readonly hears: (word: string) => Promise<void>;
}

export interface ProcessSettings {
  readonly name: string;
  readonly folder: string;
  readonly leaseMs: number;
  /** Where it freezes, or how many trees of ten steps it starts. */
  readonly how: string;
}

export function startNode(
  t: Cleanup,
  { url, schema }: DatabaseAddress,
  { name, folder, leaseMs, how }: ProcessSettings,
): NodeProcess {
  const script = join(import.meta.dirname, "node-process.ts");
  const args = [script, name, url, schema, folder, String(leaseMs), how];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  t.after(() => killChild(child));
  const said: string[] = [];
  createInterface({ input: child.stdout }).on("line", (line) => said.push(line));
  let ended: string | undefined;
  child.once("exit", (code, signal) => (ended = `${name} ended with ${code ?? signal} and said ${said.join(", ")}`));
  const hears = async (word: string): Promise<void> => {
    await until(() => said.includes(word) || ended !== undefined, `${name} says ${word}`);
    assert.ok(said.includes(word), ended);
  };
  return { child, said, hears };
}

/** Its process has been stopped by a signal. */
export function isStopped({ pid }: ChildProcess): boolean {
  return spawnSync("ps", ["-o", "state=", "-p", String(pid)], { encoding: "utf8" }).stdout.startsWith("T");
}

/** Steps whose bodies ran: at which node, under which key, when. */
export function effectsIn(folder: string): [node: string, key: string, at: number][] {
  const lines = readFileSync(join(folder, "effects.jsonl"), "utf8").split("\n");
  return lines.filter((line) => line.endsWith("]")).map((line): [string, string, number] => JSON.parse(line));
}

export async function rowsOf(address: DatabaseAddress, sql: string, values: readonly unknown[] = []): Promise<Row[]> {
  const client = await connectTo(address);
  try {
    return await ask(client, sql, values);
  } finally {
    await client.end();
  }
}

/** The lease of the node has ended. The database has just started, which would protect the node. */
export async function endLease(address: DatabaseAddress, name: string): Promise<void> {
  const ended = "UPDATE node_leases SET until = now() - interval '1 second' WHERE incarnation IN";
  await rowsOf(address, `${ended} (SELECT incarnation FROM nodes WHERE name = $1)`, [name]);
  await rowsOf(address, "UPDATE nodes SET lease_ms = 0 WHERE name = $1", [name]);
}

/** From now on the database takes commits of dead nodes. */
export async function takeOutFence(address: DatabaseAddress): Promise<void> {
  const [made] = await rowsOf(
    address,
    `SELECT pg_get_functiondef(oid) AS sql FROM pg_proc
     WHERE proname = 'pass_fence' AND pronamespace = current_schema()::regnamespace`,
  );
  const sql = String(made?.["sql"]);
  const without = sql.replace("AND alive AND last_batch", "AND last_batch");
  if (without === sql) throw new Error("the fence is not where it is looked for");
  await rowsOf(address, without);
}
