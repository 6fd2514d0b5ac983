// The doctor's check of the database in a state folder: whether it is intact, ours, and of a version this Tutti can read.

import { existsSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";

import type { Finding } from "../../host/project.ts";
import { databaseFile, openForReading } from "../../store/sqlite/database.ts";
import { storageError } from "../../store/sqlite/storage-error.ts";

const what = "database";

/** No finding for a folder without a database: it is created when it is first needed. */
export function checkDatabase(folder: string): Finding[] {
  const path = databaseFile(folder);
  return existsSync(path) ? [databaseFinding(folder, path)] : [];
}

function databaseFinding(folder: string, path: string): Finding {
  try {
    const { tables, ours, damage } = inspect(path);
    if (damage !== undefined) {
      const todo = "restore it from a copy, or move it away to start anew";
      return { what, state: "fail", said: `${path} is damaged: ${damage}`, todo, code: "corrupt" };
    }
    if (tables === 0) return { what, state: "ok", said: `${path} is empty` };
    if (!ours) {
      const todo = "move it away, or choose another folder with --state or $TUTTI_STATE";
      return { what, state: "fail", said: `${path} is not a Tutti database`, todo, code: "corrupt" };
    }
    openForReading(folder).close();
    return { what, state: "ok", said: `${path} is intact` };
  } catch (thrown) {
    const { code, message } = storageError(path, thrown);
    // A database of an older version is migrated by the next command that writes.
    if (code === "conflict" || code === "busy") return { what, state: "warn", said: message };
    const [said = message, ...todo] = message.split("; ");
    return { what, state: "fail", said, ...(todo.length === 0 ? {} : { todo: todo.join("; ") }), code };
  }
}

/** Reads every page. Writes nothing, and works while another process uses the database. */
function inspect(path: string): { readonly tables: number; readonly ours: boolean; readonly damage?: string } {
  const database = new DatabaseSync(path, { readOnly: true, timeout: 5_000 });
  try {
    const names = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all();
    const found = new Set(names.map(({ name }) => name));
    const checked = String(database.prepare("PRAGMA quick_check(1)").get()?.["quick_check"]);
    const ours = ["meta", "tasks", "log"].every((name) => found.has(name));
    return { tables: found.size, ours, ...(checked === "ok" ? {} : { damage: checked }) };
  } finally {
    database.close();
  }
}
