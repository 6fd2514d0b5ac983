// Reads what limits are held against: the tasks of a tree, its last raise, when a person was asked, and what was used.

import { integer, integerOrNull, textOrNull } from "../sqlite/rows.ts";
import type { StoreView } from "../view.ts";
import type { Reads } from "./database-connection.ts";
import { subtree } from "./subtree-sql.ts";
import { treeUnit } from "./tree-ids.ts";

/** The waits of a tree have ids that begin with its number, so its root finds them by the primary key. */
const ofTree = `waits.id >= $1::bigint - 1 AND waits.id < $1::bigint - 1 + ${treeUnit}`;

export function treeLimitsOver(reads: Pick<Reads, "rows">): Pick<StoreView, "treeLimits" | "usedBelow" | "usedSince"> {
  return {
    async treeLimits(root) {
      const [[counted = {}], raised, asked] = await Promise.all([
        reads.rows("SELECT count(*) AS tasks FROM tasks WHERE root = $1", [root]),
        // A raise is recorded by the task that asked for it, so only the lines of such tasks are looked through.
        reads.rows(
          `SELECT log.body FROM (SELECT DISTINCT task FROM waits WHERE ${ofTree} AND ask = 'budget') AS asking
           JOIN runs ON runs.task = asking.task JOIN log ON log.run = runs.id
           WHERE log.type = 'budget.raised' ORDER BY log.id DESC LIMIT 100`,
          [root],
        ),
        reads.rows(
          `SELECT waits.raised_at, answers.at FROM waits LEFT JOIN answers ON answers.wait = waits.id
           WHERE ${ofTree} AND waits.ask IS NOT NULL ORDER BY waits.raised_at, waits.id`,
          [root],
        ),
      ]);
      return {
        tasks: integer(counted, "tasks"),
        raised: raised.map((row) => textOrNull(row, "body") ?? "null"),
        asked: asked.map((row) => ({ from: integer(row, "raised_at"), to: integerOrNull(row, "at") })),
      };
    },
    // Nothing finds lines by their time, so only those of tasks that were not over by then are looked through.
    async usedSince(at) {
      const sql = `SELECT sum(log.tokens) AS tokens, sum(log.money) AS money
        FROM (SELECT task FROM open UNION ALL SELECT task FROM results WHERE at >= $1) AS late
        JOIN runs ON runs.task = late.task JOIN log ON log.run = runs.id WHERE log.at >= $1`;
      const [found = {}] = await reads.rows(sql, [at]);
      return { tokens: integerOrNull(found, "tokens") ?? 0, money: integerOrNull(found, "money") ?? 0 };
    },
    async usedBelow(task) {
      const sql = `${subtree(1)} SELECT sum(log.tokens) AS tokens, sum(log.money) AS money
        FROM below JOIN runs ON runs.task = below.id JOIN log ON log.run = runs.id`;
      const [found = {}] = await reads.rows(sql, [task]);
      return { tokens: integerOrNull(found, "tokens") ?? 0, money: integerOrNull(found, "money") ?? 0 };
    },
  };
}
