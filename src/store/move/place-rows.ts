// Gives every row of a state folder its id in a store that nodes share: the number of its tree, and its place in the tree.

import type { DatabaseSync } from "node:sqlite";

import { TuttiError } from "../../protocol/error.ts";
import { treeUnit } from "../postgres/tree-ids.ts";

/** How many trees and threads need a number. */
export function countNumbered(database: DatabaseSync): { readonly trees: number; readonly threads: number } {
  const count = (sql: string): number => Number(database.prepare(sql).get()?.["value"] ?? 0);
  return {
    trees: count("SELECT COUNT(*) AS value FROM tasks WHERE id = root"),
    threads: count("SELECT COUNT(*) AS value FROM threads"),
  };
}

/** In the order of their old ids, from 1. The root of a tree is always its first task. */
const placeOf = (tree: string, order: string): string =>
  `numbers.number * ${treeUnit} + ROW_NUMBER() OVER (PARTITION BY ${tree} ORDER BY ${order})`;

/**
 * Makes tables that live as long as the connection, on disk when they are large: `placed_tasks` and so on, each with the
 * old id and the new one. Trees and threads get the numbers from `first` on.
 */
export function placeRows(database: DatabaseSync, first: number): void {
  const { trees } = countNumbered(database);
  const place = (kind: string, select: string): void =>
    database.exec(
      `CREATE TEMP TABLE placed_${kind} (old INTEGER PRIMARY KEY, now INTEGER NOT NULL);
       INSERT INTO placed_${kind} ${select};`,
    );
  database.exec(
    `CREATE TEMP TABLE numbers (root INTEGER PRIMARY KEY, number INTEGER NOT NULL);
     INSERT INTO numbers SELECT id, ${first} - 1 + ROW_NUMBER() OVER (ORDER BY id) FROM tasks WHERE id = root;`,
  );
  const byRun = "JOIN runs ON runs.id = log.run JOIN tasks ON tasks.id = runs.task";
  const numbered = "JOIN numbers ON numbers.root = tasks.root";
  place("tasks", `SELECT id, ${placeOf("root", "id <> root, id")} FROM tasks JOIN numbers USING (root)`);
  place(
    "runs",
    `SELECT runs.id, ${placeOf("tasks.root", "runs.id")} FROM runs JOIN tasks ON tasks.id = runs.task ${numbered}`,
  );
  place("log", `SELECT log.id, ${placeOf("tasks.root", "log.id")} FROM log ${byRun} ${numbered}`);
  place("waits", `SELECT waits.id, ${placeOf("waits.root", "waits.id")} FROM waits JOIN numbers USING (root)`);
  place(
    "mail",
    `SELECT mail.id, ${placeOf("tasks.root", "mail.id")} FROM mail JOIN tasks ON tasks.id = mail.task ${numbered}`,
  );
  place("threads", `SELECT id, ${first + trees} - 1 + ROW_NUMBER() OVER (ORDER BY id) FROM threads`);
  refuseTooLarge(database);
}

function refuseTooLarge(database: DatabaseSync): void {
  for (const kind of ["tasks", "runs", "log", "waits", "mail"]) {
    const sql = `SELECT COUNT(*) AS value FROM placed_${kind} GROUP BY now / ${treeUnit} HAVING value >= ${treeUnit} LIMIT 1`;
    if (database.prepare(sql).get() === undefined) continue;
    throw new TuttiError(
      "too_large",
      `one tree of this folder has more than ${treeUnit - 1} rows of the table ${kind}, and more do not fit in one tree of a shared database; remove it with \`tutti prune\``,
    );
  }
}
