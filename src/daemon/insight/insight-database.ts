// The database of the index: made from events alone, so it is thrown away and made again whenever it does not fit them.

import { rmSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite";

import { ownFile } from "../../store/sqlite/own-file.ts";
import type { GoalChange, InsightBatch } from "./insight-batch.ts";

/** Changes whenever the tables, or what is read from events, change. */
const version = 3;

const tables = `
CREATE TABLE about (salt TEXT NOT NULL, position INTEGER NOT NULL);
CREATE TABLE tasks (
  id INTEGER PRIMARY KEY, root INTEGER NOT NULL, parent INTEGER, agent TEXT NOT NULL, runner TEXT NOT NULL,
  title TEXT NOT NULL, status TEXT NOT NULL, created_at INTEGER NOT NULL, last_at INTEGER NOT NULL, ended_at INTEGER,
  tokens INTEGER NOT NULL, money INTEGER NOT NULL
);
CREATE INDEX tasks_ended ON tasks (ended_at) WHERE ended_at IS NOT NULL;
CREATE INDEX tasks_quiet ON tasks (last_at) WHERE ended_at IS NULL;
CREATE INDEX tasks_open_below ON tasks (parent) WHERE ended_at IS NULL;
CREATE TABLE minutes (
  minute INTEGER PRIMARY KEY, created INTEGER NOT NULL, completed INTEGER NOT NULL, failed INTEGER NOT NULL,
  canceled INTEGER NOT NULL, asks INTEGER NOT NULL, drifts INTEGER NOT NULL, tokens INTEGER NOT NULL, money INTEGER NOT NULL
);
CREATE TABLE errors (seq INTEGER PRIMARY KEY, at INTEGER NOT NULL, task INTEGER NOT NULL, code TEXT NOT NULL, message TEXT NOT NULL);
CREATE INDEX errors_at ON errors (at, code);
CREATE TABLE evidence (id TEXT PRIMARY KEY, seq INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE asks (ask TEXT PRIMARY KEY, root INTEGER NOT NULL) WITHOUT ROWID;
CREATE INDEX asks_root ON asks (root);
CREATE TABLE goals (
  root INTEGER PRIMARY KEY, text TEXT NOT NULL, folder TEXT, status TEXT NOT NULL, reason TEXT NOT NULL,
  planned INTEGER NOT NULL, tokens INTEGER NOT NULL, money INTEGER NOT NULL, created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL, ended_at INTEGER
);
CREATE INDEX goals_status ON goals (status, root);
CREATE INDEX goals_folder ON goals (folder, root);
CREATE TABLE links (root INTEGER NOT NULL, task INTEGER NOT NULL, state TEXT NOT NULL, PRIMARY KEY (root, task)) WITHOUT ROWID;
CREATE TABLE criteria (root INTEGER NOT NULL, id TEXT NOT NULL, state TEXT NOT NULL, PRIMARY KEY (root, id)) WITHOUT ROWID;
CREATE TABLE texts (seq INTEGER PRIMARY KEY, at INTEGER NOT NULL, kind TEXT NOT NULL, task INTEGER NOT NULL, text TEXT NOT NULL, tags TEXT NOT NULL);
CREATE VIRTUAL TABLE words USING fts5(text, tags, content='texts', content_rowid='seq', tokenize='unicode61 remove_diacritics 2', prefix='3');
`;

/** The largest number that is exact. What models and workers say that they used may add up to more, and must still be read. */
const largest = Number.MAX_SAFE_INTEGER;

const writes = {
  addTask: `INSERT INTO tasks VALUES (?, ?, ?, ?, ?, ?, 'pending', ?, ?, NULL, 0, 0) ON CONFLICT (id) DO NOTHING`,
  changeTask: `UPDATE tasks SET last_at = MAX(last_at, ?2), status = IFNULL(?3, status), ended_at = IFNULL(?4, ended_at),
    tokens = MIN(tokens + ?5, ${largest}), money = MIN(money + ?6, ${largest}) WHERE id = ?1`,
  addMinute: `INSERT INTO minutes VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (minute) DO UPDATE SET
    created = created + excluded.created, completed = completed + excluded.completed, failed = failed + excluded.failed,
    canceled = canceled + excluded.canceled, asks = asks + excluded.asks, drifts = drifts + excluded.drifts, tokens = MIN(tokens + excluded.tokens, ${largest}),
    money = MIN(money + excluded.money, ${largest})`,
  addError: `INSERT INTO errors VALUES (?, ?, ?, ?, ?)`,
  addEvidence: `INSERT OR IGNORE INTO evidence VALUES (?, ?)`,
  openAsk: `INSERT OR REPLACE INTO asks VALUES (?, ?)`,
  closeAsk: `DELETE FROM asks WHERE ask = ?`,
  addGoal: `INSERT INTO goals VALUES (?1, ?2, ?3, ?4, '', 0, 0, 0, ?5, ?5, NULL)
    ON CONFLICT (root) DO UPDATE SET text = excluded.text, folder = excluded.folder, status = excluded.status`,
  setCriterion: `INSERT OR REPLACE INTO criteria VALUES (?, ?, ?)`,
  addPlanned: `UPDATE goals SET planned = planned + ?2, updated_at = MAX(updated_at, ?3) WHERE root = ?1`,
  setLink: `INSERT OR REPLACE INTO links VALUES (?, ?, ?)`,
  setGoal: `UPDATE goals SET status = ?2, reason = ?3, updated_at = MAX(updated_at, ?4) WHERE root = ?1`,
  endGoal: `UPDATE goals SET ended_at = ?2, updated_at = MAX(updated_at, ?2) WHERE root = ?1`,
  addUse: `UPDATE goals SET tokens = MIN(tokens + ?2, ${largest}), money = MIN(money + ?3, ${largest}), updated_at = MAX(updated_at, ?4) WHERE root = ?1`,
  addText: `INSERT INTO texts VALUES (?, ?, ?, ?, ?, ?)`,
  addWords: `INSERT INTO words (rowid, text, tags) VALUES (?, ?, ?)`,
  setPosition: `UPDATE about SET position = ?`,
} as const;

export interface InsightDatabase {
  readonly database: DatabaseSync;
  /** The sequence of the last event that is in it. */
  position(): number;
  /** All of the batch, or none of it. */
  apply(batch: InsightBatch): void;
  close(): void;
}

/** `last`: the last event there is. An index that is ahead of it was made from other events. */
export function openInsightDatabase(folder: string, { salt, last }: { salt: string; last: number }): InsightDatabase {
  const path = insightFile(folder);
  const found = tryOpen(path);
  if (found !== undefined && fits(found, salt, last)) return insightOver(found);
  found?.close();
  removeInsight(folder);
  const database = openFile(path);
  database.exec(`BEGIN; ${tables} PRAGMA user_version = ${version};`);
  database.prepare("INSERT INTO about VALUES (?, 0)").run(salt);
  database.exec("COMMIT");
  return insightOver(database);
}

const insightFile = (folder: string): string => join(folder, "insight.db");

/** The next one who looks for something has it made again. Nobody may have it open. */
export function removeInsight(folder: string): void {
  for (const end of ["", "-wal", "-shm"]) rmSync(`${insightFile(folder)}${end}`, { force: true });
}

function openFile(path: string): DatabaseSync {
  ownFile(path);
  const database = new DatabaseSync(path, { timeout: 5_000 });
  // What a power loss takes away is read from the events again, so nothing waits for the disk.
  database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF; PRAGMA cache_size = -8000");
  return database;
}

/** Undefined when the file is damaged. */
function tryOpen(path: string): DatabaseSync | undefined {
  try {
    return openFile(path);
  } catch {
    return undefined;
  }
}

function fits(database: DatabaseSync, salt: string, last: number): boolean {
  try {
    if (database.prepare("PRAGMA user_version").get()?.["user_version"] !== version) return false;
    const about = database.prepare("SELECT salt, position FROM about").get();
    return about?.["salt"] === salt && Number(about["position"]) <= last;
  } catch {
    return false;
  }
}

function insightOver(database: DatabaseSync): InsightDatabase {
  const prepared = new Map<keyof typeof writes, StatementSync>();
  const run = (name: keyof typeof writes, ...values: SQLInputValue[]): void => {
    const statement = prepared.get(name) ?? database.prepare(writes[name]);
    prepared.set(name, statement);
    statement.run(...values);
  };
  const position = database.prepare("SELECT position FROM about");
  return {
    database,
    position: () => Number(position.get()?.["position"] ?? 0),
    apply(batch) {
      database.exec("BEGIN");
      try {
        applyTasks(run, batch);
        for (const change of batch.goals) applyGoal(run, change);
        applyUse(run, batch);
        for (const { ask, root, open } of batch.asks) {
          if (open) run("openAsk", ask, root);
          else run("closeAsk", ask);
        }
        for (const { seq, at, task, code, message } of batch.errors) run("addError", seq, at, task, code, message);
        for (const { id, seq } of batch.evidence) run("addEvidence", id, seq);
        for (const { seq, at, kind, task, root, text } of batch.texts) {
          const tags = `k${kind} r${root}`;
          run("addText", seq, at, kind, task, text, tags);
          run("addWords", seq, text, tags);
        }
        run("setPosition", batch.upTo);
        database.exec("COMMIT");
      } catch (thrown) {
        database.exec("ROLLBACK");
        throw thrown;
      }
    },
    close: () => database.close(),
  };
}

type Run = (name: keyof typeof writes, ...values: SQLInputValue[]) => void;

function applyTasks(run: Run, { tasks, minutes }: InsightBatch): void {
  for (const { id, root, made, lastAt, status, endedAt, tokens, money } of tasks) {
    if (made !== null) run("addTask", id, root, made.parent, made.agent, made.runner, made.title, made.at, made.at);
    run("changeTask", id, lastAt, status, endedAt, tokens, money);
  }
  for (const { minute, created, completed, failed, canceled, asks, drifts, tokens, money } of minutes) {
    run("addMinute", minute, created, completed, failed, canceled, asks, drifts, tokens, money);
  }
}

/** What the tasks of a tree used is added to its goal, if it has one. */
function applyUse(run: Run, { tasks }: InsightBatch): void {
  const used = new Map<number, { tokens: number; money: number; at: number }>();
  for (const { root, tokens, money, lastAt } of tasks) {
    const sum = used.get(root) ?? { tokens: 0, money: 0, at: 0 };
    used.set(root, { tokens: sum.tokens + tokens, money: sum.money + money, at: Math.max(sum.at, lastAt) });
  }
  for (const [root, { tokens, money, at }] of used) run("addUse", root, tokens, money, at);
}

function applyGoal(run: Run, change: GoalChange): void {
  const { root, at } = change;
  switch (change.kind) {
    case "created":
      return run("addGoal", root, change.text, change.folder, change.status, at);
    case "criterion":
      return run("setCriterion", root, change.id, change.state);
    case "planned":
      return run("addPlanned", root, change.tasks, at);
    case "link":
      return run("setLink", root, change.task, change.state);
    case "status":
      return run("setGoal", root, change.status, change.reason, at);
    case "ended":
      if (change.status !== null) run("setGoal", root, change.status, change.reason, at);
      return run("endGoal", root, at);
  }
}
