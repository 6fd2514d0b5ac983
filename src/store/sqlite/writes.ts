// Every write the store can queue, by name: a batch is data, a list of these names and their values.

import { stepKinds } from "./rows.ts";

const marks = (count: number): string => Array.from({ length: count }, () => "?").join(", ");
const insert = (table: string, columns: number): string => `INSERT INTO ${table} VALUES (${marks(columns)})`;
const replace = (table: string, columns: number): string =>
  `INSERT OR REPLACE INTO ${table} VALUES (${marks(columns)})`;

const untaken = "fetched_at IS NULL AND posted_at IS NULL";
const isSentTo = (wait: string, sid: string): string =>
  `(${wait} IS NULL OR EXISTS (SELECT 1 FROM sent WHERE wait = ${wait} AND sid = ${sid}))`;
const inForce = "void_until < ?3 AND revoked_at IS NULL";

/** The values of an insert are the table's columns in their order. */
export const writes = {
  addTask: insert("tasks", 11),
  addRequest: insert("request_previews", 2),
  addThread: insert("threads", 7),
  addThreadEntry: insert("thread_entries", 4),
  touchThread: "UPDATE threads SET said_at = MAX(said_at, ?) WHERE id = ?",
  touchThreadsOf:
    "UPDATE threads SET said_at = MAX(said_at, ?) WHERE id IN (SELECT thread FROM thread_entries WHERE task = ?)",
  copyThreadEntries: `INSERT INTO thread_entries SELECT ?1, position, task, CASE WHEN position = ?3 THEN ?4 ELSE until END
    FROM thread_entries WHERE thread = ?2 AND position <= ?3`,
  addOpen: "INSERT INTO open (task, status) VALUES (?, 'pending')",
  setStatus: "UPDATE open SET status = ? WHERE task = ?",
  dropOpen: "DELETE FROM open WHERE task = ?",
  bindKey: "INSERT OR REPLACE INTO keys (key, task, content) VALUES (?, ?, ?)",
  addResult: insert("results", 4),
  addPreview: insert("result_previews", 2),
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
  setResumes: replace("resumes", 2),
  dropResumes: "DELETE FROM resumes WHERE task = ?",
  putSetting: replace("meta", 2),
  addKey: insert("api_keys", 6),
  revokeKey: "UPDATE api_keys SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL",
  revokeTickets: "DELETE FROM tickets WHERE api_key = ?",
  revokePageTokens: "DELETE FROM page_tokens WHERE api_key = ?",
  revokeOperators: "DELETE FROM operators WHERE api_key = ?",
  revokeRoles: "DELETE FROM operator_roles WHERE sid NOT IN (SELECT sid FROM operators)",
  // An offer that no worker took may be made to others. The rights that went out with it stay void.
  revokeLeases: `UPDATE leases SET revoked_at = ?1, void_until = MAX(void_until, due)
    WHERE api_key = ?2 AND revoked_at IS NULL`,
  addOperator: `INSERT INTO operators SELECT ?1, ?2, ?3, ?4, ?5, ?6
    WHERE NOT EXISTS (SELECT 1 FROM operator_roles WHERE role IN (SELECT value FROM json_each(?3)))
      AND NOT EXISTS (SELECT 1 FROM api_keys WHERE id = ?6 AND revoked_at IS NOT NULL)`,
  addRoles: `INSERT INTO operator_roles SELECT value, ?1 FROM json_each(?2)
    WHERE EXISTS (SELECT 1 FROM operators WHERE sid = ?1)`,
  touchOperator: "UPDATE operators SET seen_at = MAX(seen_at, ?) WHERE sid = ?",
  removeOperator: "DELETE FROM operators WHERE sid = ?",
  removeIdleOperator: "DELETE FROM operators WHERE sid = ? AND seen_at <= ?",
  removeTickets: "DELETE FROM tickets WHERE sid = ?1 AND NOT EXISTS (SELECT 1 FROM operators WHERE sid = ?1)",
  removeRoles: "DELETE FROM operator_roles WHERE sid = ?1 AND NOT EXISTS (SELECT 1 FROM operators WHERE sid = ?1)",
  putSent: `INSERT INTO sent VALUES (?, ?, ?) ON CONFLICT (wait) DO UPDATE SET sid = excluded.sid, at = excluded.at
    WHERE sid = excluded.sid OR sid NOT IN (SELECT sid FROM operators)`,
  removeSent: "DELETE FROM sent WHERE wait = ? AND sid = ?",
  putHandle: replace("handles", 3),
  dropHandle: "DELETE FROM handles WHERE digest = ?",
  addTicket: "INSERT INTO tickets VALUES (?, ?, ?, NULL, ?)",
  claimTicket: "UPDATE tickets SET claim = ? WHERE digest = ? AND claim IS NULL",
  trimTickets: `DELETE FROM tickets WHERE expires_at < ?
    OR digest NOT IN (SELECT digest FROM tickets ORDER BY expires_at DESC LIMIT ?)`,
  addPageToken: `INSERT INTO page_tokens SELECT ?1, ?2, ?3, ?4
    WHERE EXISTS (SELECT 1 FROM api_keys WHERE id = ?2 AND revoked_at IS NULL)`,
  dropPageToken: "DELETE FROM page_tokens WHERE digest = ?",
  trimPageTokens: `DELETE FROM page_tokens WHERE expires_at < ?1 OR (api_key = ?2 AND digest NOT IN
    (SELECT digest FROM page_tokens WHERE api_key = ?2 ORDER BY created_at DESC LIMIT ?3))`,
  offerLease: `INSERT INTO leases SELECT ?1, ?2, ?3, NULL, NULL, 0, ?4, NULL WHERE ${isSentTo("?6", "?7")}
    ON CONFLICT (task, attempt) DO UPDATE SET
      due = excluded.due, api_key = excluded.api_key, revoked_at = NULL,
      void_until = CASE WHEN due <= ?5 THEN MAX(void_until, due) ELSE void_until END
    WHERE ${untaken}`,
  voidOffer: `UPDATE leases SET void_until = due
    WHERE task = ?1 AND attempt = ?2 AND ${untaken} AND ${isSentTo("?3", "?4")}`,
  recordFetch: `INSERT INTO leases VALUES (?1, ?2, ?3, ?4, NULL, 0, '', NULL) ON CONFLICT (task, attempt) DO UPDATE SET
      due = CASE WHEN posted_at IS NULL THEN ?3 ELSE MAX(due, ?5) END, fetched_at = COALESCE(fetched_at, ?4)
    WHERE ${inForce}`,
  recordProgress: `INSERT INTO leases VALUES (?1, ?2, ?5, NULL, ?4, 0, '', NULL)
    ON CONFLICT (task, attempt) DO UPDATE SET due = ?5, posted_at = ?4 WHERE ${inForce}`,
  extendLease: `INSERT INTO leases VALUES (?1, ?2, ?4, NULL, NULL, 0, '', NULL)
    ON CONFLICT (task, attempt) DO UPDATE SET due = MAX(due, CASE WHEN posted_at IS NULL THEN ?4 ELSE ?5 END)
    WHERE ${inForce}`,
  putNotice: replace("notices", 6),
  removeNotice: "DELETE FROM notices WHERE id = ?",
} as const;

export type WriteName = keyof typeof writes;
