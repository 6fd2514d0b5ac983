// Looks at a database beside its owner: a read-only connection that takes no lock.
import type { SQLInputValue, SQLOutputValue } from "node:sqlite";

import { TaskStatus } from "../../protocol/task-status.ts";
import type { StoreView, TaskListing } from "../view.ts";
import { openForReading } from "./database.ts";
import * as row from "./rows.ts";
import { storageError } from "./storage-error.ts";

/** An outcome counts as a step; what a run only noted for itself does not. */
const stepKinds = ["ok", "failed", "unknown"]
  .map((kind) => row.stepKinds.findIndex((known) => known === kind))
  .join(", ");

const listing = `SELECT tasks.*, results.at AS ended_at, results.body AS result,
    COALESCE(results.status, CASE
      WHEN EXISTS (SELECT 1 FROM waits LEFT JOIN answers ON answers.wait = waits.id
                   WHERE waits.task = tasks.id AND answers.wait IS NULL AND waits.body LIKE '{"ask"%') THEN 'input_required'
      WHEN EXISTS (SELECT 1 FROM runs JOIN log ON log.run = runs.id
                   WHERE runs.task = tasks.id AND log.type = 'task.started') THEN 'running'
      ELSE 'pending' END) AS status,
    (SELECT MAX(attempt) FROM runs WHERE runs.task = tasks.id) AS attempt,
    (SELECT run FROM runs WHERE runs.task = tasks.id ORDER BY attempt DESC, run DESC LIMIT 1) AS run,
    (SELECT COUNT(*) FROM runs JOIN log ON log.run = runs.id WHERE runs.task = tasks.id AND log.kind IN (${stepKinds})) AS steps,
    (SELECT SUM(log.tokens) FROM runs JOIN log ON log.run = runs.id WHERE runs.task = tasks.id) AS tokens,
    (SELECT SUM(log.money) FROM runs JOIN log ON log.run = runs.id WHERE runs.task = tasks.id) AS money
  FROM tasks LEFT JOIN results ON results.task = tasks.id`;

const subtree = `WITH RECURSIVE below (id) AS (SELECT ? UNION ALL SELECT tasks.id FROM tasks JOIN below ON tasks.parent = below.id)`;

export function openView(folder: string): StoreView {
  const { database, path, salt, close } = openForReading(folder);
  const all = <T>(sql: string, read: row.RowReader<T>): ((...values: SQLInputValue[]) => T[]) => {
    const statement = database.prepare(sql);
    return (...values) => {
      try {
        return statement.all(...values).map(read);
      } catch (thrown) {
        throw storageError(path, thrown);
      }
    };
  };
  const one = <T>(sql: string, read: row.RowReader<T>): ((value: SQLInputValue) => T | undefined) => {
    const find = all(sql, read);
    return (value) => find(value)[0];
  };
  const unfinished = one(
    "SELECT COUNT(*) AS count FROM tasks WHERE root = ? AND id NOT IN (SELECT task FROM results)",
    ({ count }) => Number(count),
  );
  return {
    salt,
    unfinished: (root) => unfinished(root) ?? 0,
    roots: all(`${listing} WHERE tasks.parent IS NULL ORDER BY tasks.id DESC LIMIT ?`, listingIn),
    task: one(`${listing} WHERE tasks.id = ?`, listingIn),
    below: all(`${subtree} ${listing} WHERE tasks.id IN (SELECT id FROM below) ORDER BY tasks.id`, listingIn),
    result: one("SELECT * FROM results WHERE task = ?", row.resultIn),
    wait: one("SELECT * FROM waits WHERE id = ?", row.waitIn),
    answer: one("SELECT * FROM answers WHERE wait = ?", row.answerIn),
    openWaits: all(
      `SELECT waits.* FROM waits LEFT JOIN answers ON answers.wait = waits.id
       WHERE answers.wait IS NULL AND waits.task NOT IN (SELECT task FROM results) ORDER BY waits.id`,
      row.waitIn,
    ),
    events: all(
      `${subtree} SELECT log.*, runs.task AS task, runs.attempt AS attempt, runs.run AS ordinal
       FROM runs JOIN log ON log.run = runs.id
       WHERE runs.task IN (SELECT id FROM below) AND log.id > ? AND log.type IS NOT NULL ORDER BY log.id LIMIT ?`,
      row.eventIn,
    ),
    close,
  };
}

function listingIn(found: Record<string, SQLOutputValue>): TaskListing {
  const count = (name: string): number => Number(found[name] ?? 0);
  const { result, ended_at } = found;
  return {
    ...row.taskIn(found),
    status: TaskStatus.parse(found["status"]),
    attempt: count("attempt"),
    run: count("run"),
    ended_at: typeof ended_at === "number" ? ended_at : null,
    steps: count("steps"),
    tokens: count("tokens"),
    money: count("money"),
    result: typeof result === "string" ? result : null,
  };
}
