// What the doctor says of the database in a state folder: whether it is whole, ours, and of a version this Tutti reads.

import { existsSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";

import type { Finding } from "../../host/project.ts";
import { databaseFile, openForReading } from "../../store/sqlite/database.ts";
import { storageError } from "../../store/sqlite/storage-error.ts";

const what = "database";

/** Nothing is said of a folder without one: it is made when it is first needed. */
export function databaseFindings(folder: string): Finding[] {
  const path = databaseFile(folder);
  return existsSync(path) ? [databaseFinding(folder, path)] : [];
}

function databaseFinding(folder: string, path: string): Finding {
  try {
    const { tables, ours, problem } = lookInto(path);
    if (problem !== undefined) {
      const todo = "restore it from a copy, or move it away to start anew";
      return { what, state: "fail", said: `${path} is damaged: ${problem}`, todo, code: "corrupt" };
    }
    if (tables === 0) return { what, state: "ok", said: `${path} is empty` };
    if (!ours) {
      const todo = "move it away, or choose another folder with --state or $TUTTI_STATE";
      return { what, state: "fail", said: `${path} is not a Tutti database`, todo, code: "corrupt" };
    }
    openForReading(folder).close();
    return { what, state: "ok", said: `${path} is whole` };
  } catch (thrown) {
    const { code, message } = storageError(path, thrown);
    // One of an older version is brought up to date by the next command that writes.
    if (code === "conflict" || code === "busy") return { what, state: "warn", said: message };
    const [said = message, ...todo] = message.split("; ");
    return { what, state: "fail", said, ...(todo.length === 0 ? {} : { todo: todo.join("; ") }), code };
  }
}

/** Reads every page, without writing and beside whoever works on it. */
function lookInto(path: string): { readonly tables: number; readonly ours: boolean; readonly problem?: string } {
  const database = new DatabaseSync(path, { readOnly: true, timeout: 5_000 });
  try {
    const names = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all();
    const found = new Set(names.map(({ name }) => name));
    const checked = String(database.prepare("PRAGMA quick_check(1)").get()?.["quick_check"]);
    const ours = ["meta", "tasks", "log"].every((name) => found.has(name));
    return { tables: found.size, ours, ...(checked === "ok" ? {} : { problem: checked }) };
  } finally {
    database.close();
  }
}
