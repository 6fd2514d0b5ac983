// What a task has done and used so far, counted on from where it was counted before: lines of the log never change.
import type { DatabaseSync } from "node:sqlite";

import { integer, integerOrNull, stepKinds, type RowReader } from "./rows.ts";
import { readsOver } from "./statements.ts";

interface Totals {
  readonly steps: number;
  readonly tokens: number;
  readonly money: number;
}

interface Counted extends Totals {
  /** The last line of the whole log when it was counted. */
  readonly through: number;
}

const nothing: Counted = { steps: 0, tokens: 0, money: 0, through: 0 };

/** Tasks whose count is remembered; any other is counted from the start. */
const remembered = 10_000;

/** An outcome counts as a step; what a run only noted for itself does not. */
export const stepKindList = (["ok", "failed", "unknown"] as const).map((kind) => stepKinds.indexOf(kind)).join(", ");

/** The last line of the log, whoever's it is. */
export const lastLine = "(SELECT IFNULL(MAX(id), 0) FROM log)";

interface TotalsReader {
  /** `task` is the root when whole trees are counted. `last`: the last line of the whole log, where that is known; a task counted up to there is not counted again. */
  (task: number, last?: number): Totals;
}

const runsOf = { task: "runs", tree: "tasks JOIN runs ON runs.task = tasks.id" };

/** Lines are committed in the order of their ids, so none can turn up before one that was there when it was counted. */
export function totalsOver(database: DatabaseSync, path: string, of: "task" | "tree" = "task"): TotalsReader {
  const known = new Map<number, Counted>();
  // The index holds run and id: of lines that are counted already only its entries are read.
  const since = readsOver(database, path).one(
    `SELECT COUNT(*) FILTER (WHERE log.kind IN (${stepKindList})) AS steps, SUM(log.tokens) AS tokens,
       SUM(log.money) AS money, ${lastLine} AS through
     FROM ${runsOf[of]} JOIN log INDEXED BY log_key ON log.run = runs.id WHERE ${of === "task" ? "runs.task" : "tasks.root"} = ? AND log.id > ?`,
    countedIn,
  );
  return (task, last) => {
    const before = known.get(task) ?? nothing;
    if (before.through === last) return before;
    const more = since(task, before.through) ?? nothing;
    const now: Counted = {
      steps: before.steps + more.steps,
      tokens: before.tokens + more.tokens,
      money: before.money + more.money,
      through: more.through,
    };
    // Counted last, forgotten last.
    known.delete(task);
    known.set(task, now);
    if (known.size > remembered) for (const oldest of known.keys().take(1)) known.delete(oldest);
    return now;
  };
}

const countedIn: RowReader<Counted> = (row) => ({
  steps: integer(row, "steps"),
  tokens: integerOrNull(row, "tokens") ?? 0,
  money: integerOrNull(row, "money") ?? 0,
  through: integerOrNull(row, "through") ?? 0,
});
