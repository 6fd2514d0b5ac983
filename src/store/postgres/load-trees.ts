// Reads whole trees out of the database, for a node that takes them over.

import type { SQLOutputValue } from "node:sqlite";

import type pg from "pg";

import { AskKind } from "../../protocol/task/ask.ts";
import { eventTypes } from "../../protocol/task/event-types.ts";
import { stepKinds } from "../sqlite/rows.ts";
import { rootOf, treeUnit, type IdKind } from "./tree-ids.ts";

interface TreeTable {
  readonly name: string;
  readonly columns: readonly string[];
  /** The column whose value says which tree a row belongs to. */
  readonly tree: string;
}

const table = (name: string, tree: string, columns: string): TreeTable => ({ name, tree, columns: columns.split(" ") });

export const treeTables: readonly TreeTable[] = [
  table("tasks", "id", "id parent root depth kind agent detached created_at deadline shared body"),
  table("open", "task", "task status"),
  table("keys", "task", "key task content"),
  table("results", "task", "task status at body"),
  table("result_previews", "task", "task text"),
  table("request_previews", "task", "task text"),
  table("runs", "id", "id task attempt run body"),
  table("log", "id", "id run key at kind type input tokens money body state mail"),
  table("step_starts", "run", "run key input note"),
  table("timers", "run", "run key due"),
  table("waits", "id", "id task root run key raised_at due ask body settled"),
  table("answers", "wait", "wait kind at body"),
  table("mail", "id", "id task body"),
  table("resumes", "task", "task count"),
];

export interface LoadedTrees {
  readonly roots: readonly number[];
  /** By table; values in the order of its columns. */
  readonly rows: Readonly<Record<string, readonly (readonly SQLOutputValue[])[]>>;
}

/** What is known of the ids of one loaded tree. */
export interface LoadedIds {
  readonly root: number;
  readonly last: Record<IdKind, number>;
  open: number;
}

export async function loadTrees(client: Pick<pg.ClientBase, "query">, roots: readonly number[]): Promise<LoadedTrees> {
  const rows: Record<string, readonly (readonly SQLOutputValue[])[]> = {};
  if (roots.length === 0) return { roots, rows };
  for (const { name, columns, tree } of treeTables) {
    const text = `SELECT ${columns.map((column) => `t.${column}`).join(", ")} FROM unnest($1::bigint[]) AS r(root)
      JOIN ${name} t ON t.${tree} >= r.root - 1 AND t.${tree} < r.root - 1 + ${treeUnit}`;
    const found = await client.query<SQLOutputValue[]>({ text, values: [roots], rowMode: "array" });
    rows[name] = found.rows;
  }
  return { roots, rows };
}

const counted = ["tasks", "runs", "log", "waits", "mail"] as const satisfies readonly IdKind[];

export function idsIn({ roots, rows }: LoadedTrees): LoadedIds[] {
  const trees = new Map<number, LoadedIds>(
    roots.map((root) => [root, { root, last: { tasks: 0, runs: 0, log: 0, waits: 0, mail: 0 }, open: 0 }]),
  );
  for (const kind of counted) {
    for (const [id] of rows[kind] ?? []) {
      const tree = trees.get(rootOf(Number(id)));
      if (tree !== undefined) tree.last[kind] = Math.max(tree.last[kind], Number(id) % treeUnit);
    }
  }
  for (const [task] of rows["open"] ?? []) {
    const tree = trees.get(rootOf(Number(task)));
    if (tree !== undefined) tree.open += 1;
  }
  return [...trees.values()];
}

/** The trees with a word of ours that this version does not know, and that word: a newer version recorded them. */
export function unknownIn({ rows }: LoadedTrees): ReadonlyMap<number, string> {
  const unknown = new Map<number, string>();
  const look = (name: string, column: string, isKnown: (value: SQLOutputValue) => boolean): void => {
    const at = treeTables.find((each) => each.name === name)?.columns.indexOf(column) ?? -1;
    for (const row of rows[name] ?? []) {
      const value = row[at] ?? null;
      if (value !== null && !isKnown(value)) unknown.set(rootOf(Number(row[0])), String(value));
    }
  };
  look("log", "type", (value) => knownTypes.has(String(value)));
  look("log", "kind", (value) => stepKinds[Number(value)] !== undefined);
  look("waits", "ask", (value) => AskKind.safeParse(value).success);
  return unknown;
}

const knownTypes: ReadonlySet<string> = new Set(eventTypes);
