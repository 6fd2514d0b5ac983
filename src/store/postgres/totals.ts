// What tasks have done and used so far, counted on from where it was counted before: lines of the log never change.

import { integer } from "../sqlite/rows.ts";
import type { Reads } from "./database-connection.ts";

interface Totals {
  readonly steps: number;
  readonly tokens: number;
  readonly money: number;
}

interface Counted extends Totals {
  /** The last line of the task that was counted. */
  readonly through: number;
}

const nothing: Counted = { steps: 0, tokens: 0, money: 0, through: 0 };

/** Tasks whose count is remembered; any other is counted from the start. */
const remembered = 10_000;

/** One owner writes the lines of a tree in the order of their ids, so none can turn up before one that was counted. */
export function totalsOver(
  reads: Reads,
  stepKinds: string,
): (tasks: readonly number[]) => Promise<Map<number, Totals>> {
  const known = new Map<number, Counted>();
  const sql = `SELECT given.task, count(*) FILTER (WHERE l.kind IN (${stepKinds})) AS steps, sum(l.tokens) AS tokens,
      sum(l.money) AS money, max(l.id) AS through
    FROM unnest($1::bigint[], $2::bigint[]) AS given(task, through)
    JOIN runs r ON r.task = given.task JOIN log l ON l.run = r.id AND l.id > given.through GROUP BY given.task`;
  return async (tasks) => {
    const before = new Map(tasks.map((task) => [task, known.get(task) ?? nothing]));
    const rows = await reads.rows(sql, [tasks, tasks.map((task) => before.get(task)?.through ?? 0)]);
    const counted = new Map<number, Counted>(before);
    for (const row of rows) {
      const task = integer(row, "task");
      const earlier = before.get(task) ?? nothing;
      counted.set(task, {
        steps: earlier.steps + integer(row, "steps"),
        tokens: earlier.tokens + integer(row, "tokens"),
        money: earlier.money + integer(row, "money"),
        through: integer(row, "through"),
      });
    }
    for (const [task, count] of counted) {
      // Counted last, forgotten last. Two reads at once may have counted to different lines.
      if ((known.get(task)?.through ?? 0) > count.through) continue;
      known.delete(task);
      known.set(task, count);
    }
    for (const oldest of known.keys().take(Math.max(0, known.size - remembered))) known.delete(oldest);
    return counted;
  };
}
