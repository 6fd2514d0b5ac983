// Every write the store can queue, by name: a batch is data, a list of these names and their values.

import { stepKinds } from "./rows.ts";

const marks = (count: number): string => Array.from({ length: count }, () => "?").join(", ");
const insert = (table: string, columns: number): string => `INSERT INTO ${table} VALUES (${marks(columns)})`;
const replace = (table: string, columns: number): string =>
  `INSERT OR REPLACE INTO ${table} VALUES (${marks(columns)})`;

/** The values of an insert are the table's columns in their order. */
export const writes = {
  addTask: insert("tasks", 11),
  addOpen: "INSERT INTO open (task, status) VALUES (?, 'pending')",
  setStatus: "UPDATE open SET status = ? WHERE task = ?",
  dropOpen: "DELETE FROM open WHERE task = ?",
  bindKey: replace("keys", 3),
  addResult: insert("results", 4),
  addRun: insert("runs", 5),
  addLog:
    "INSERT INTO log (id, run, key, at, kind, type, input, tokens, money, body, state) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
  addMailLog:
    "INSERT INTO log (id, run, key, at, kind, type, input, tokens, money, body, state, mail) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
  addEvent: `INSERT INTO log (id, run, key, at, kind, type, input, tokens, money, body)
    VALUES (?, ?, ?, ?, ${stepKinds.indexOf("event")}, ?, 0, 0, 0, ?)`,
  addStepStart: insert("step_starts", 4),
  noteStepStart: "UPDATE step_starts SET note = ? WHERE run = ? AND key = ?",
  addTimer: insert("timers", 3),
  addWait: `INSERT INTO waits (id, task, root, run, key, raised_at, due, ask, body) VALUES (${marks(9)})`,
  setSettled: "UPDATE waits SET settled = ? WHERE id = ?",
  addAnswer: insert("answers", 4),
  dropAnswer: "DELETE FROM answers WHERE wait = ?",
  addMail: insert("mail", 3),
  putSetting: replace("meta", 2),
  addKey: insert("api_keys", 6),
  revokeKey: "UPDATE api_keys SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL",
  putOperator: replace("operators", 6),
  removeOperator: "DELETE FROM operators WHERE sid = ?",
  putSent: replace("sent", 3),
  putHandle: replace("handles", 3),
  dropHandles: "DELETE FROM handles WHERE expires_at < ?",
  addTicket: "INSERT INTO tickets VALUES (?, ?, ?, NULL)",
  claimTicket: "UPDATE tickets SET claim = ? WHERE digest = ? AND claim IS NULL",
  trimTickets: `DELETE FROM tickets WHERE expires_at < ?
    OR digest NOT IN (SELECT digest FROM tickets ORDER BY expires_at DESC LIMIT ?)`,
  putLease: replace("leases", 6),
  putNotice: replace("notices", 6),
  removeNotice: "DELETE FROM notices WHERE id = ?",
} as const;

export type WriteName = keyof typeof writes;
