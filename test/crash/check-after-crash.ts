// Compares the state folder after the last kill with what was acknowledged and with the effects that took place.

import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";

import { nextStatus } from "../../src/core/task-state.ts";
import { statusEvents, type TaskStatus } from "../../src/protocol/task/task-status.ts";
import { type Salt, taskName } from "../../src/store/names.ts";
import { ask, connectTo, type DatabaseAddress } from "../../src/store/postgres/database-connection.ts";
import { loadTrees } from "../../src/store/postgres/load-trees.ts";
import { openTreeCache } from "../../src/store/postgres/tree-cache.ts";
import { treeUnit } from "../../src/store/postgres/tree-ids.ts";
import { openForReading, type OpenedDatabase } from "../../src/store/sqlite/database.ts";
import { readLedger } from "./crash-ledger.ts";
import { expected } from "./crash-loops.ts";

export interface Tally {
  readonly kills: number;
  readonly tasks: number;
  /** Acknowledged and not there, or there with another content. */
  readonly lost: number;
  /** Run again although its outcome had been recorded; or ended a second time. */
  readonly repeated: number;
  /** Done twice although it may not be. */
  readonly doubled: number;
  readonly unfinished: number;
}

export interface Verdict {
  readonly tally: Tally;
  /** In words, the first few of each kind. */
  readonly problems: readonly string[];
  /** How much of it the run really met. */
  readonly figures: Readonly<Record<string, number>>;
}

export type Rows = (sql: string) => Record<string, unknown>[];

/** What is wrong with the records themselves, in words. */
export interface RecordProblems {
  readonly lost: readonly string[];
  readonly endedTwice: readonly string[];
  readonly unfinished: readonly string[];
  readonly others: readonly string[];
}

export function check(folder: string, kills: number): Verdict {
  const opened = openForReading(folder);
  try {
    return checkOpened(folder, kills, { ...opened, isShared: false });
  } finally {
    opened.close();
  }
}

const rootsAtOnce = 500;

/** The same for a database of nodes, whose trees are read into a cache as a node does it. */
export async function checkShared(folder: string, kills: number, address: DatabaseAddress): Promise<Verdict> {
  const connection = await connectTo(address);
  try {
    const [meta] = await ask(connection, "SELECT value FROM meta WHERE key = 'salt'");
    const cache = openTreeCache(join(folder, "check"), String(meta?.["value"]));
    try {
      const roots = (await ask(connection, "SELECT root FROM trees ORDER BY root")).map((row) => Number(row["root"]));
      for (let at = 0; at < roots.length; at += rootsAtOnce) {
        cache.load(await loadTrees(connection, roots.slice(at, at + rootsAtOnce)));
      }
      return checkOpened(folder, kills, { ...cache.opened, isShared: true });
    } finally {
      cache.opened.close();
    }
  } finally {
    await connection.end();
  }
}

/** `isShared`: ids are of trees, so lines are compared by the time at which they were made. */
interface CheckedRecords extends Pick<OpenedDatabase, "database" | "salt"> {
  readonly isShared: boolean;
}

function checkOpened(folder: string, kills: number, { database, salt, isShared }: CheckedRecords): Verdict {
  const rows: Rows = (sql) => database.prepare(sql).all();
  const acks = readLedger(folder, "acks");
  const effects = readLedger(folder, "effects");
  const { lost, endedTwice, unfinished, others } = recordProblems(rows, acks);
  const { repeated, doubled } = effectsAgain(rows, { salt, acks, effects, isShared });
  const one = (sql: string): number => Number(rows(sql)[0]?.["value"]);
  return {
    tally: {
      kills,
      tasks: one("SELECT COUNT(*) AS value FROM tasks"),
      lost: lost.length,
      repeated: repeated.length + endedTwice.length,
      doubled: doubled.length,
      unfinished: unfinished.length,
    },
    problems: [lost, repeated, endedTwice, doubled, unfinished, others, isShared ? holes(rows) : gaps(rows)].flatMap(
      (found) => found.slice(0, 5),
    ),
    figures: {
      acknowledged: acks.length,
      effects: effects.length,
      repeatable_again: effects.length - new Set(effects.map(([, key]) => key)).size,
      unknown: one("SELECT COUNT(*) AS value FROM log WHERE kind = 2"),
      answers: one("SELECT COUNT(*) AS value FROM answers WHERE kind = 'answered'"),
      runs: one("SELECT COUNT(*) AS value FROM runs"),
      events: one("SELECT COUNT(*) AS value FROM log WHERE type IS NOT NULL"),
    },
  };
}

/** Holds for the records of any store, read as those of the embedded one. */
export function recordProblems(rows: Rows, acks: readonly string[][]): RecordProblems {
  const ended = rows(
    `SELECT runs.task AS id, COUNT(*) AS ends FROM log JOIN runs ON runs.id = log.run
     WHERE type IN ('task.completed', 'task.failed', 'task.canceled') GROUP BY runs.task HAVING ends > 1`,
  );
  const unfinished = rows("SELECT id FROM tasks WHERE id NOT IN (SELECT task FROM results)");
  return {
    lost: [...lostOf(rows, acks), ...wrongResults(rows)],
    endedTwice: ended.map((row) => `task ${String(row["id"])} ended ${String(row["ends"])} times`),
    unfinished: unfinished.map((row) => `task ${String(row["id"])} has no end`),
    others: [...mismatchedEnds(rows), ...wrongStatuses(rows), ...damage(rows)],
  };
}

function lostOf(rows: Rows, acks: readonly string[][]): string[] {
  const keyed = new Map(rows("SELECT key, task FROM keys").map((row) => [String(row["key"]), String(row["task"])]));
  const answered = new Set(rows("SELECT wait FROM answers WHERE kind = 'answered'").map((row) => String(row["wait"])));
  const results = new Map(rows("SELECT * FROM results").map((row) => [String(row["task"]), row]));
  const mail = new Set(
    rows("SELECT task, body ->> '$.parts[0].data' AS said FROM mail").map(
      (row) => `${String(row["task"])} ${String(row["said"])}`,
    ),
  );
  const attempts = new Map(
    rows("SELECT task, MAX(attempt) AS value FROM runs GROUP BY task").map((row) => [
      String(row["task"]),
      Number(row["value"]),
    ]),
  );
  const isKept = ([kind, id = "", third = "", fourth = ""]: readonly string[]): boolean => {
    const result = results.get(id);
    if (kind === "start") return keyed.get(third) === id;
    if (kind === "answer") return answered.has(id);
    if (kind === "mail") return mail.has(`${id} ${third}`);
    if (kind === "cancel") return result !== undefined;
    if (kind === "retry") return (attempts.get(id) ?? 0) > 1;
    if (kind === "result") return result?.["status"] === third && JSON.stringify(contentOf(result)) === fourth;
    return true;
  };
  return acks.filter((ack) => !isKept(ack)).map((ack) => `acknowledged and lost: ${JSON.stringify(ack)}`);
}

function contentOf(result: Record<string, unknown>): unknown {
  const body: { content?: unknown; error?: unknown; reason?: unknown } = JSON.parse(String(result["body"]));
  return body.content ?? body.error ?? body.reason ?? null;
}

function wrongResults(rows: Rows): string[] {
  const wanted = new Map<string, unknown>(Object.entries(expected));
  return rows(
    "SELECT tasks.agent, results.* FROM tasks JOIN results ON results.task = tasks.id WHERE parent IS NULL",
  ).flatMap((row) => {
    const want = wanted.get(String(row["agent"]));
    if (want === undefined || isDeepStrictEqual(contentOf(row), want)) return [];
    return [`${String(row["agent"])} ${String(row["task"])} ended with ${String(row["body"])}`];
  });
}

function effectsAgain(
  rows: Rows,
  world: {
    readonly salt: Salt;
    readonly acks: readonly string[][];
    readonly effects: readonly string[][];
    readonly isShared: boolean;
  },
): { repeated: string[]; doubled: string[] } {
  const recorded = new Map(
    rows(
      `SELECT ${world.isShared ? "log.at + 1" : "log.id"} AS id, log.key, runs.task, runs.attempt, runs.run FROM log JOIN runs ON runs.id = log.run`,
    ).map((row) => [
      `${taskName(world.salt, Number(row["task"]))}/${String(row["attempt"])}.${String(row["run"])}/${String(row["key"])}`,
      Number(row["id"]),
    ]),
  );
  const recordedBefore = new Map(
    world.acks.filter(([kind]) => kind === "epoch").map(([, epoch, last]) => [epoch, Number(last)]),
  );
  const done = new Map<string, string>();
  const repeated: string[] = [];
  const doubled: string[] = [];
  for (const [epoch = "", key = "", kind] of world.effects) {
    const step = recorded.get(key);
    const wasRecorded = step !== undefined && step <= (recordedBefore.get(epoch) ?? 0);
    if (wasRecorded || done.get(key) === epoch)
      repeated.push(`${key} ran again in ${epoch} after its outcome was recorded`);
    if (kind === "once" && done.has(key)) doubled.push(`${key} was done in ${done.get(key)} and ${epoch}`);
    done.set(key, epoch);
  }
  return { repeated, doubled };
}

/** The end the events tell is the end the result tells. */
function mismatchedEnds(rows: Rows): string[] {
  return rows(
    `SELECT results.task AS task FROM results WHERE NOT EXISTS
     (SELECT 1 FROM log JOIN runs ON runs.id = log.run WHERE runs.task = results.task AND type = 'task.' || status)`,
  ).map((row) => `the events of task ${String(row["task"])} tell of another end`);
}

/** The events of a task, folded by the state machine, give the status that is kept (invariant 2). */
function wrongStatuses(rows: Rows): string[] {
  const kept = new Map(
    rows("SELECT task, status FROM open UNION ALL SELECT task, status FROM results").map((row) => [row["task"], row]),
  );
  const statuses = new Map<unknown, TaskStatus>(rows("SELECT id FROM tasks").map((row) => [row["id"], "pending"]));
  const wrong: string[] = [];
  for (const { task, type } of rows("SELECT runs.task, type FROM log JOIN runs ON runs.id = log.run ORDER BY log.id")) {
    const event = statusEvents.find((each) => each === type);
    if (event === undefined) continue;
    const moved = nextStatus(statuses.get(task) ?? "pending", event);
    if (moved.ok) statuses.set(task, moved.status);
    else wrong.push(`task ${String(task)}: ${moved.reason}`);
  }
  for (const [task, status] of statuses) {
    if (kept.get(task)?.["status"] !== status)
      wrong.push(`task ${String(task)} is kept with another status than ${status}`);
  }
  return wrong;
}

function damage(rows: Rows): string[] {
  const found: string[] = [];
  for (const row of rows("PRAGMA integrity_check")) {
    if (row["integrity_check"] !== "ok") found.push(`integrity: ${String(row["integrity_check"])}`);
  }
  const orphans = rows("SELECT id FROM log WHERE run NOT IN (SELECT id FROM runs)");
  if (orphans.length > 0) found.push(`${orphans.length} lines of the log are of no run`);
  const open = rows(
    `SELECT id FROM tasks WHERE (id IN (SELECT task FROM open)) = (id IN (SELECT task FROM results))
     UNION SELECT task FROM open WHERE task NOT IN (SELECT id FROM tasks)`,
  );
  if (open.length > 0) found.push(`${open.length} tasks are open and over, or neither`);
  const settled = rows("SELECT id FROM waits WHERE settled <> (id IN (SELECT wait FROM answers))");
  if (settled.length > 0) found.push(`${settled.length} waits are not marked as they are`);
  return found;
}

/** Whoever takes up a tree goes on where its lines end. */
export function holes(rows: Rows): string[] {
  const sql = `SELECT id / ${treeUnit} AS tree FROM log GROUP BY tree HAVING COUNT(*) <> MAX(id) % ${treeUnit}`;
  return rows(sql).map((row) => `the log of the tree ${String(row["tree"])} has holes`);
}

/** The embedded store numbers all lines of the log without gaps. */
function gaps(rows: Rows): string[] {
  const [log] = rows("SELECT COUNT(*) AS count, MAX(id) AS last, MIN(id) AS first FROM log");
  const isWhole = log?.["count"] === log?.["last"] && log?.["first"] === 1;
  return isWhole ? [] : [`the log has gaps: ${JSON.stringify(log)}`];
}
