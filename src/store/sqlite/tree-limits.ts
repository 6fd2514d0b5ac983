// Reads what the limits of a tree are held against: its tasks, the last raise, and the times in which a person was asked.

import type { DatabaseSync } from "node:sqlite";

import type { StoreView } from "../view.ts";
import { integer, integerOrNull, numberIn, textOrNull } from "./rows.ts";
import { readsOver } from "./statements.ts";
import { subtree } from "./subtree-sql.ts";

export function treeLimitsOver(database: DatabaseSync, path: string): Pick<StoreView, "treeLimits" | "usedBelow"> {
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
    (row) => ({ tokens: integerOrNull(row, "tokens") ?? 0, money: integerOrNull(row, "money") ?? 0 }),
  );
  return {
    treeLimits: async (root) => ({ tasks: tasks(root) ?? 0, raised: raised(root), asked: asked(root) }),
    usedBelow: async (task) => used(task) ?? { tokens: 0, money: 0 },
  };
}
