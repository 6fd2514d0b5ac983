// The questions that the index answers. Each reads a bounded part of it, by an index of its own.

import type { DatabaseSync, SQLInputValue } from "node:sqlite";

import { integer, integerOrNull, type RowReader, text, textOrNull } from "../../store/sqlite/rows.ts";

export interface SearchQuestion {
  /** A query in the language of FTS5; made by `searchExpression`, never taken from a caller. */
  readonly expression: string;
  /** Only texts of events before this one. */
  readonly before: number;
  readonly limit: number;
}

/** `excerpt` has U+0001 before each match and U+0002 after it. */
export interface FoundText {
  readonly seq: number;
  readonly at: number;
  readonly kind: string;
  readonly task: number;
  readonly root: number;
  readonly isGoal: boolean;
  readonly agent: string;
  readonly title: string;
  readonly excerpt: string;
}

export interface BoardQuestion {
  readonly status: string | null;
  readonly folder: string | null;
  /** Only goals older than this one. */
  readonly before: number;
  readonly limit: number;
  readonly folders: boolean;
}

export interface BoardRow {
  readonly root: number;
  readonly text: string;
  readonly folder: string | null;
  readonly status: string;
  readonly reason: string;
  readonly planned: number;
  readonly launched: number;
  readonly running: number;
  readonly verified: number;
  readonly failed: number;
  readonly criteria: number;
  readonly met: number;
  readonly unmet: number;
  readonly asks: number;
  readonly tokens: number;
  readonly money: number;
  readonly created_at: number;
  readonly updated_at: number;
  readonly ended_at: number | null;
}

export interface SeriesQuestion {
  readonly from: number;
  readonly to: number;
  readonly bucketMs: number;
}

export interface SeriesRow {
  readonly at: number;
  readonly created: number;
  readonly completed: number;
  readonly failed: number;
  readonly canceled: number;
  readonly asks: number;
  readonly drifts: number;
  readonly tokens: number;
  readonly money: number;
}

export interface TasksQuestion {
  readonly order: "slowest" | "quietest";
  /** `slowest`: tasks that ended after this time. */
  readonly from: number;
  readonly limit: number;
}

export interface TaskRow {
  readonly id: number;
  readonly root: number;
  readonly isGoal: boolean;
  readonly agent: string;
  readonly runner: string;
  readonly title: string;
  readonly status: string;
  readonly created_at: number;
  readonly last_at: number;
  readonly ended_at: number | null;
  readonly tokens: number;
  readonly money: number;
}

export interface ErrorCount {
  readonly code: string;
  readonly count: number;
  readonly at: number;
  readonly task: number;
  readonly agent: string;
  readonly message: string;
}

const mostFolders = 200;
const mostCodes = 100;
/** How many of the tasks that ended in the window are compared. */
const mostCompared = 50_000;

export function searchTexts(database: DatabaseSync, { expression, before, limit }: SearchQuestion): FoundText[] {
  const sql = `SELECT texts.seq, texts.at, texts.kind, texts.task, tasks.root, tasks.agent, tasks.title,
      goals.text AS goal, snippet(words, 0, char(1), char(2), '…', 24) AS excerpt
    FROM words JOIN texts ON texts.seq = words.rowid JOIN tasks ON tasks.id = texts.task
      LEFT JOIN goals ON goals.root = tasks.root
    WHERE words MATCH ? AND words.rowid < ? ORDER BY words.rowid DESC LIMIT ?`;
  return rows(database, sql, [expression, before, limit], (row) => ({
    seq: integer(row, "seq"),
    at: integer(row, "at"),
    kind: text(row, "kind"),
    task: integer(row, "task"),
    root: integer(row, "root"),
    isGoal: textOrNull(row, "goal") !== null,
    agent: text(row, "agent"),
    title: text(row, "title") === "" ? (textOrNull(row, "goal") ?? "") : text(row, "title"),
    excerpt: text(row, "excerpt"),
  }));
}

export function boardOf(
  database: DatabaseSync,
  { status, folder, before, limit, folders }: BoardQuestion,
): { readonly goals: BoardRow[]; readonly folders: string[] } {
  const where = ["root < ?"];
  const values: SQLInputValue[] = [before];
  for (const [name, value] of [
    ["status", status],
    ["folder", folder],
  ] as const) {
    if (value === null) continue;
    where.push(`${name} = ?`);
    values.push(value);
  }
  const links = (state: string): string =>
    `(SELECT COUNT(*) FROM links WHERE links.root = goals.root AND state ${state})`;
  const criteria = (state: string): string =>
    `(SELECT COUNT(*) FROM criteria WHERE criteria.root = goals.root AND state ${state})`;
  const sql = `SELECT goals.*, ${links("<> 'superseded'")} AS launched, ${links("= 'running'")} AS running,
      ${links("= 'verified'")} AS verified, ${links("= 'failed'")} AS failed, ${criteria("<> ''")} AS criteria,
      ${criteria("= 'met'")} AS met, ${criteria("= 'unmet'")} AS unmet,
      (SELECT COUNT(*) FROM asks WHERE asks.root = goals.root) AS asks
    FROM goals WHERE ${where.join(" AND ")} ORDER BY root DESC LIMIT ?`;
  const goals = rows(database, sql, [...values, limit], (row) => ({
    root: integer(row, "root"),
    text: text(row, "text"),
    folder: textOrNull(row, "folder"),
    status: text(row, "status"),
    reason: text(row, "reason"),
    planned: integer(row, "planned"),
    launched: integer(row, "launched"),
    running: integer(row, "running"),
    verified: integer(row, "verified"),
    failed: integer(row, "failed"),
    criteria: integer(row, "criteria"),
    met: integer(row, "met"),
    unmet: integer(row, "unmet"),
    asks: integer(row, "asks"),
    tokens: integer(row, "tokens"),
    money: integer(row, "money"),
    created_at: integer(row, "created_at"),
    updated_at: integer(row, "updated_at"),
    ended_at: integerOrNull(row, "ended_at"),
  }));
  const known = "SELECT DISTINCT folder FROM goals WHERE folder IS NOT NULL ORDER BY folder LIMIT ?";
  return { goals, folders: folders ? rows(database, known, [mostFolders], (row) => text(row, "folder")) : [] };
}

export function seriesOf(database: DatabaseSync, { from, to, bucketMs }: SeriesQuestion): SeriesRow[] {
  const sums = ["created", "completed", "failed", "canceled", "asks", "drifts", "tokens", "money"];
  const sql = `SELECT ?1 + CAST((minute - ?1) / ?3 AS INTEGER) * ?3 AS at, ${sums.map(summed).join(", ")}
    FROM minutes WHERE minute >= ?1 AND minute < ?2 GROUP BY 1 ORDER BY 1`;
  return rows(database, sql, [from, to, bucketMs], (row) => ({
    at: integer(row, "at"),
    created: integer(row, "created"),
    completed: integer(row, "completed"),
    failed: integer(row, "failed"),
    canceled: integer(row, "canceled"),
    asks: integer(row, "asks"),
    drifts: integer(row, "drifts"),
    tokens: integer(row, "tokens"),
    money: integer(row, "money"),
  }));
}

/** Whole up to the largest number that is exact; a plain sum of large numbers would be an error. */
function summed(name: string): string {
  return `CAST(MIN(TOTAL(${name}), ${Number.MAX_SAFE_INTEGER}) AS INTEGER) AS ${name}`;
}

export function tasksBy(database: DatabaseSync, { order, from, limit }: TasksQuestion): TaskRow[] {
  const sql = `SELECT tasks.*, goals.root AS goal FROM (${order === "slowest" ? slowest : quietest}) AS tasks
    LEFT JOIN goals ON goals.root = tasks.root ORDER BY ${order === "slowest" ? "tasks.ended_at - tasks.created_at DESC" : "tasks.last_at"}
    LIMIT ?2`;
  return rows(database, sql, [from, limit], (row) => ({
    id: integer(row, "id"),
    root: integer(row, "root"),
    isGoal: integerOrNull(row, "goal") !== null,
    agent: text(row, "agent"),
    runner: text(row, "runner"),
    title: text(row, "title"),
    status: text(row, "status"),
    created_at: integer(row, "created_at"),
    last_at: integer(row, "last_at"),
    ended_at: integerOrNull(row, "ended_at"),
    tokens: integer(row, "tokens"),
    money: integer(row, "money"),
  }));
}

const slowest = `SELECT * FROM tasks WHERE ended_at >= ?1 ORDER BY ended_at DESC LIMIT ${mostCompared}`;
/**
 * A task that waits for others below it, or for a person, is not stuck. A schedule waits for its time, and a conversation for
 * what is said next.
 */
const quietest = `SELECT * FROM tasks WHERE ended_at IS NULL AND last_at >= ?1 AND status <> 'input_required'
  AND runner NOT IN ('schedule', 'conversation') AND NOT EXISTS
  (SELECT 1 FROM tasks AS below WHERE below.parent = tasks.id AND below.ended_at IS NULL) ORDER BY last_at LIMIT ?2`;

/** The event that holds the evidence; undefined when there is none. */
export function evidenceAt(database: DatabaseSync, id: string): number | undefined {
  return rows(database, "SELECT seq FROM evidence WHERE id = ?", [id], (row) => integer(row, "seq"))[0];
}

export function errorsSince(database: DatabaseSync, from: number): ErrorCount[] {
  const sql = `SELECT counted.*, errors.at, errors.task, errors.message, IFNULL(tasks.agent, '') AS agent
    FROM (SELECT code, COUNT(*) AS count, MAX(seq) AS seq FROM errors WHERE at >= ? GROUP BY code ORDER BY 2 DESC LIMIT ?)
      AS counted JOIN errors ON errors.seq = counted.seq LEFT JOIN tasks ON tasks.id = errors.task ORDER BY count DESC`;
  return rows(database, sql, [from, mostCodes], (row) => ({
    code: text(row, "code"),
    count: integer(row, "count"),
    at: integer(row, "at"),
    task: integer(row, "task"),
    agent: text(row, "agent"),
    message: text(row, "message"),
  }));
}

function rows<T>(database: DatabaseSync, sql: string, values: SQLInputValue[], read: RowReader<T>): T[] {
  return database
    .prepare(sql)
    .all(...values)
    .map(read);
}
