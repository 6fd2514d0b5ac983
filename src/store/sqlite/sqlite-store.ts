// The embedded store: queued writes in one commit per tick, prepared reads, names made from integer ids.
import type { SQLInputValue } from "node:sqlite";

import type { ServiceRecords } from "../service-records.ts";
import type { Store } from "../store.ts";
import { openDatabase, type OpenedDatabase } from "./database.ts";
import * as row from "./rows.ts";
import { serviceRecordsOver } from "./sqlite-service-records.ts";
import { readsOver } from "./statements.ts";
import { storageError } from "./storage-error.ts";
import { Writer } from "./writer.ts";

/** Opens the folder's database for writing; the caller holds the lock. */
export function openStore(folder: string): Store & { readonly records: ServiceRecords } {
  const opened = openDatabase(folder);
  try {
    return storeOver(opened);
  } catch (thrown) {
    opened.close();
    throw storageError(opened.path, thrown);
  }
}

function storeOver({ database, path, salt, close }: OpenedDatabase): Store & { readonly records: ServiceRecords } {
  const writer = new Writer(database, path);
  const next = countersOf(database);

  const { all, one } = readsOver(database, path);
  const records = serviceRecordsOver(database, path, writer);
  const insert = (table: string, columns: string): ((...values: SQLInputValue[]) => void) => {
    const statement = database.prepare(`INSERT INTO ${table} VALUES (${columns.replaceAll(/[a-z]\w*/g, "?")})`);
    return (...values) => writer.push(statement, values);
  };

  const putTask = insert("tasks", "id, parent, root, depth, kind, agent, detached, created_at, deadline, shared, body");
  const putKey = insert("keys", "key, task");
  const putResult = insert("results", "task, status, at, body");
  const putRun = insert("runs", "id, task, attempt, run, body");
  const putLog = insert("log", "id, run, key, at, kind, type, input, tokens, money, body, state");
  const putEvent = insert("log", `id, run, key, at, ${row.stepKinds.indexOf("event")}, type, 0, 0, 0, body, NULL`);
  const putClaim = insert("claims", "run, key, input, body");
  const putWait = insert("waits", "id, task, root, run, key, raised_at, due, body, 0");
  const putOpen = insert("open", "task");
  const putAnswer = insert("answers", "wait, kind, at, body");
  const putMail = insert("mail", "id, task, body");
  const setNote = database.prepare("UPDATE claims SET body = ? WHERE run = ? AND key = ?");
  const dropAnswer = database.prepare("DELETE FROM answers WHERE wait = ?");
  const dropOpen = database.prepare("DELETE FROM open WHERE task = ?");
  const setSettled = database.prepare("UPDATE waits SET settled = ? WHERE id = ?");
  const dropKey = database.prepare("DELETE FROM keys WHERE key = ?");

  const openTasks = `WITH RECURSIVE upward (id) AS (
      SELECT task FROM open
      UNION SELECT parent FROM tasks JOIN upward USING (id) WHERE parent IS NOT NULL)
    SELECT tasks.* FROM tasks JOIN upward USING (id) ORDER BY id`;

  // A task made since this store was opened has only the mail that came through it; most have none, and each looks every turn.
  const tasksBefore = next.tasks;
  const mailed = new Set<number>();
  const mailAfter = one("SELECT * FROM mail WHERE task = ? AND id > ? ORDER BY id LIMIT 1", row.mailIn);
  const ofTask = "log.run IN (SELECT id FROM runs WHERE task = ?)";
  const lastAtOf = one(`SELECT MAX(at) AS value FROM log WHERE ${ofTask}`, row.numberIn);
  const lastAtOfAll = one("SELECT at AS value FROM log ORDER BY id DESC LIMIT 1", row.numberIn);

  return {
    records,
    salt,
    get failure() {
      return writer.failure;
    },
    committed: () => writer.committed(),
    onCommit: (listener) => writer.onCommit(listener),
    close() {
      writer.flush();
      close();
    },

    addTask(task) {
      const id = (next.tasks += 1);
      const root = task.root ?? id;
      const { parent, depth, kind, agent, detached, created_at, deadline, shared, body } = task;
      putTask(id, parent, root, depth, kind, agent, Number(detached), created_at, deadline, shared, body);
      putOpen(id);
      return id;
    },
    bindKey(key, task) {
      writer.push(dropKey, [key]);
      putKey(key, task);
    },
    addResult(result) {
      putResult(result.task, result.status, result.at, result.body);
      writer.push(dropOpen, [result.task]);
      // Nobody reads the mail of a task that is over.
      mailed.delete(result.task);
    },
    addRun(run) {
      const id = (next.runs += 1);
      putRun(id, run.task, run.attempt, run.run, run.body);
      return id;
    },
    addLog(line) {
      const id = (next.log += 1);
      const kind = row.stepKinds.indexOf(line.kind);
      const { run, key, at, type, input, tokens, money, body, state } = line;
      putLog(id, run, key, at, kind, type, input, tokens, money, body, state);
      return id;
    },
    addClaim: (claim) => putClaim(claim.run, claim.key, claim.input, claim.body),
    noteClaim: (run, key, body) => writer.push(setNote, [body, run, key]),
    addWait(wait) {
      const id = (next.waits += 1);
      putWait(id, wait.task, wait.root, wait.run, wait.key, wait.raised_at, wait.due, wait.body);
      return id;
    },
    addAnswer(answer) {
      putAnswer(answer.wait, answer.kind, answer.at, answer.body);
      writer.push(setSettled, [1, answer.wait]);
    },
    dropAnswer(wait) {
      writer.push(dropAnswer, [wait]);
      writer.push(setSettled, [0, wait]);
    },
    addMail(task, body) {
      const id = (next.mail += 1);
      mailed.add(task);
      putMail(id, task, body);
      return id;
    },
    addEvent({ run, at, type, body }) {
      const id = (next.log += 1);
      putEvent(id, run, `!${id.toString(36)}`, at, type, body);
      return id;
    },

    putSetting: (name, value) => records.putSetting(name, value),
    setting: (name) => records.setting(name),

    task: one("SELECT * FROM tasks WHERE id = ?", row.taskIn),
    openTasks: all(openTasks, row.taskIn),
    tree: all("SELECT * FROM tasks WHERE root = ? ORDER BY id", row.taskIn),
    taskOfKey: one("SELECT task AS value FROM keys WHERE key = ?", row.numberIn),
    result: one("SELECT * FROM results WHERE task = ?", row.resultIn),
    lastRun: one("SELECT * FROM runs WHERE task = ? ORDER BY attempt DESC, run DESC LIMIT 1", row.runIn),
    logAt: one("SELECT * FROM log WHERE run = ? AND key = ?", row.logIn),
    logById: one("SELECT * FROM log WHERE id = ?", row.logIn),
    lastState: one("SELECT * FROM log WHERE run = ? AND state IS NOT NULL ORDER BY id DESC LIMIT 1", row.logIn),
    claim: one("SELECT * FROM claims WHERE run = ? AND key = ?", row.claimIn),
    openNotes: all(
      `SELECT claims.body AS value FROM claims LEFT JOIN log USING (run, key)
       WHERE claims.body IS NOT NULL AND claims.body NOT LIKE '@%' AND log.id IS NULL`,
      row.textIn,
    ),
    wait: one("SELECT * FROM waits WHERE run = ? AND key = ?", row.waitIn),
    waitById: one("SELECT * FROM waits WHERE id = ?", row.waitIn),
    waitsOf: all("SELECT * FROM waits WHERE root = ? ORDER BY id", row.waitIn),
    answer: one("SELECT * FROM answers WHERE wait = ?", row.answerIn),
    nextMail: (task, after) => (task > tasksBefore && !mailed.has(task) ? undefined : mailAfter(task, after)),
    lastMailTaken: one(
      `SELECT MAX(CAST(body AS INTEGER)) AS value FROM log
       WHERE ${ofTask} AND kind = ${row.stepKinds.indexOf("received")}`,
      row.numberIn,
    ),
    lastLife: one(
      `SELECT type AS value FROM log WHERE ${ofTask} AND type IN (
         'task.created', 'task.started', 'task.input_required', 'task.resumed', 'task.handed_over', 'run.started')
       ORDER BY id DESC LIMIT 1`,
      row.textIn,
    ),
    messages: all(
      `SELECT body AS value FROM log WHERE log.run IN (SELECT id FROM runs WHERE task = ? AND attempt = ?)
       AND type = 'message.added' ORDER BY id`,
      row.textIn,
    ),
    lastEventAt: (task) => (task === null ? lastAtOfAll() : lastAtOf(task)),
    lastText: one(
      `SELECT substr(COALESCE(body ->> '$.message.parts[0].data', body ->> '$.parts[0].data', ''), 1, 500) AS value
       FROM log WHERE ${ofTask} AND type = 'message.added' ORDER BY id DESC LIMIT 1`,
      row.textIn,
    ),
    spentOf: all(
      `SELECT runs.task AS task, SUM(log.tokens) AS tokens, SUM(log.money) AS money
       FROM tasks JOIN runs ON runs.task = tasks.id JOIN log ON log.run = runs.id
       WHERE tasks.root = ? GROUP BY runs.task HAVING SUM(log.tokens) > 0 OR SUM(log.money) > 0`,
      row.spentIn,
    ),
    eventsAfter: all(
      `SELECT ${row.eventColumns} FROM log JOIN runs ON runs.id = log.run JOIN tasks ON tasks.id = runs.task
       WHERE log.id > ? AND log.type IS NOT NULL ORDER BY log.id LIMIT ?`,
      row.eventIn,
    ),
    eventsOf: all(
      `SELECT ${row.eventColumns} FROM log JOIN runs ON runs.id = log.run JOIN tasks ON tasks.id = runs.task
       WHERE runs.task = ? AND log.id > ? AND log.type IS NOT NULL ORDER BY log.id LIMIT ?`,
      row.eventIn,
    ),
  };
}

/** Ids are counted here, so that a row's id is known before it is on disk; pruning never lets one be used again. */
function countersOf(database: OpenedDatabase["database"]): Record<"tasks" | "runs" | "log" | "waits" | "mail", number> {
  const last = (table: string): number => {
    const used = database.prepare(`SELECT MAX(id) AS value FROM ${table}`).get();
    const kept = database
      .prepare("SELECT CAST(value AS INTEGER) AS value FROM meta WHERE key = ?")
      .get(`last_${table}`);
    return Math.max(row.numberIn(used ?? {}) ?? 0, row.numberIn(kept ?? {}) ?? 0);
  };
  return {
    tasks: last("tasks"),
    runs: last("runs"),
    log: last("log"),
    waits: last("waits"),
    mail: last("mail"),
  };
}
