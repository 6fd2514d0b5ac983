// Reads what limits are held against: the tasks of a tree, its last raise, when a person was asked, and what was used.

import type { DatabaseSync } from "node:sqlite";

import type { StoreView } from "../view.ts";
import { integer, integerOrNull, numberIn, type RowReader, textOrNull } from "./rows.ts";
import { readsOver } from "./statements.ts";
import { subtree } from "./subtree-sql.ts";

export function treeLimitsOver(
  database: DatabaseSync,
  path: string,
): Pick<StoreView, "treeLimits" | "usedBelow" | "usedSince"> {
  const { all, one } = readsOver(database, path);
  const tasks = one("SELECT COUNT(*) AS value FROM tasks WHERE root = ?", numberIn);
  // A raise is recorded by the task that asked for it, so only the lines of such tasks are looked through.
  const raised = all(
    `SELECT log.body FROM (SELECT DISTINCT task FROM waits WHERE root = ? AND ask = 'budget') AS asking
     JOIN runs ON runs.task = asking.task JOIN log ON log.run = runs.id
     WHERE log.type = 'budget.raised' ORDER BY log.id DESC LIMIT 100`,
    (row) => textOrNull(row, "body") ?? "null",
  );
  const asked = all(
    `SELECT waits.raised_at, answers.at FROM waits LEFT JOIN answers ON answers.wait = waits.id
     WHERE waits.root = ? AND waits.ask IS NOT NULL ORDER BY waits.raised_at`,
    (row) => ({ from: integer(row, "raised_at"), to: integerOrNull(row, "at") }),
  );
  const used = one(
    `${subtree} SELECT SUM(log.tokens) AS tokens, SUM(log.money) AS money
     FROM below JOIN runs ON runs.task = below.id JOIN log ON log.run = runs.id`,
    usedIn,
  );
  // Nothing finds lines by their time, so only those of tasks that were not over by then are looked through.
  const usedSince = one(
    `SELECT SUM(log.tokens) AS tokens, SUM(log.money) AS money
     FROM (SELECT task FROM open UNION ALL SELECT task FROM results WHERE at >= ?1) AS late
     JOIN runs ON runs.task = late.task JOIN log ON log.run = runs.id WHERE log.at >= ?1`,
    usedIn,
  );
  return {
    usedSince: async (at) => usedSince(at) ?? { tokens: 0, money: 0 },
    treeLimits: async (root) => ({ tasks: tasks(root) ?? 0, raised: raised(root), asked: asked(root) }),
    usedBelow: async (task) => used(task) ?? { tokens: 0, money: 0 },
  };
}

const usedIn: RowReader<{ readonly tokens: number; readonly money: number }> = (row) => ({
  tokens: integerOrNull(row, "tokens") ?? 0,
  money: integerOrNull(row, "money") ?? 0,
});
