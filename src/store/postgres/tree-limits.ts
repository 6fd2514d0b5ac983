// Reads what the limits of a tree are held against: its tasks, the last raise, and the times in which a person was asked.

import { integer, integerOrNull, textOrNull } from "../sqlite/rows.ts";
import type { StoreView } from "../view.ts";
import type { Reads } from "./database-connection.ts";
import { subtree } from "./subtree-sql.ts";
import { treeUnit } from "./tree-ids.ts";

/** The waits of a tree have ids that begin with its number, so its root finds them by the primary key. */
const ofTree = `waits.id >= $1::bigint - 1 AND waits.id < $1::bigint - 1 + ${treeUnit}`;

export function treeLimitsOver(reads: Pick<Reads, "rows">): Pick<StoreView, "treeLimits" | "usedBelow"> {
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
    async usedBelow(task) {
      const sql = `${subtree(1)} SELECT sum(log.tokens) AS tokens, sum(log.money) AS money
        FROM below JOIN runs ON runs.task = below.id JOIN log ON log.run = runs.id`;
      const [found = {}] = await reads.rows(sql, [task]);
      return { tokens: integerOrNull(found, "tokens") ?? 0, money: integerOrNull(found, "money") ?? 0 };
    },
  };
}
