// The embedded records store, on the connection and the write queue of the store it belongs to.
import type { DatabaseSync, SQLInputValue } from "node:sqlite";

import type {
  ServiceRecords,
  HandleRow,
  KeyRow,
  LeaseRow,
  NoticeRow,
  OperatorRow,
  SentRow,
} from "../service-records.ts";
import { damaged, integer, integerOrNull, type RowReader, text, textIn } from "./rows.ts";
import { readsOver } from "./statements.ts";
import type { Writer } from "./writer.ts";

export function serviceRecordsOver(database: DatabaseSync, path: string, writer: Writer): ServiceRecords {
  const { all, one } = readsOver(database, path);
  const write = (sql: string): ((...values: SQLInputValue[]) => void) => {
    const statement = database.prepare(sql);
    return (...values) => writer.push(statement, values);
  };

  const addKey = write("INSERT INTO api_keys VALUES (?, ?, ?, ?, ?, ?)");
  const revokeKey = write("UPDATE api_keys SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL");
  const putOperator = write("INSERT OR REPLACE INTO operators VALUES (?, ?, ?, ?, ?, ?)");
  const putSent = write("INSERT OR REPLACE INTO sent VALUES (?, ?, ?)");
  const putHandle = write("INSERT OR REPLACE INTO handles VALUES (?, ?, ?)");
  const putLease = write("INSERT OR REPLACE INTO leases VALUES (?, ?, ?, ?, ?, ?)");
  const putNotice = write("INSERT OR REPLACE INTO notices VALUES (?, ?, ?, ?, ?, ?)");
  const putSetting = write("INSERT OR REPLACE INTO meta VALUES (?, ?)");
  const setting = one("SELECT value FROM meta WHERE key = ?", textIn);
  const settingKey = (name: string): string => `setting_${name}`;

  return {
    keys: all("SELECT * FROM api_keys ORDER BY created_at, id", keyIn),
    addKey: (row) => addKey(row.id, row.name, row.role, row.digest, row.created_at, row.revoked_at),
    revokeKey: (id, at) => revokeKey(at, id),
    operators: all("SELECT * FROM operators ORDER BY created_at, sid", operatorIn),
    putOperator: ({ sid, digest, roles, created_at, seen_at, api_key }) =>
      putOperator(sid, digest, JSON.stringify(roles), created_at, seen_at, api_key),
    removeOperator: write("DELETE FROM operators WHERE sid = ?"),
    sent: one("SELECT * FROM sent WHERE wait = ?", sentIn),
    putSent: (row) => putSent(row.wait, row.sid, row.at),
    handle: one("SELECT * FROM handles WHERE digest = ?", handleIn),
    putHandle: (row) => putHandle(row.digest, row.claims, row.expires_at),
    dropHandles: write("DELETE FROM handles WHERE expires_at < ?"),
    lease: one("SELECT * FROM leases WHERE task = ? AND attempt = ?", leaseIn),
    putLease: (row) => putLease(row.task, row.attempt, row.due, row.fetched_at, row.posted_at, row.void_until),
    notices: all("SELECT * FROM notices ORDER BY created_at, id", noticeIn),
    putNotice: (row) => putNotice(row.id, row.target, row.body, row.tries, row.due, row.created_at),
    removeNotice: write("DELETE FROM notices WHERE id = ?"),
    setting: (name) => setting(settingKey(name)),
    putSetting: (name, value) => putSetting(settingKey(name), value),
  };
}

const keyIn: RowReader<KeyRow> = (row) => {
  const role = text(row, "role");
  if (role !== "admin" && role !== "operator" && role !== "viewer") throw damaged("role");
  return {
    id: text(row, "id"),
    name: text(row, "name"),
    role,
    digest: text(row, "digest"),
    created_at: integer(row, "created_at"),
    revoked_at: integerOrNull(row, "revoked_at"),
  };
};

const operatorIn: RowReader<OperatorRow> = (row) => ({
  sid: text(row, "sid"),
  digest: text(row, "digest"),
  roles: textsIn(text(row, "roles")),
  created_at: integer(row, "created_at"),
  seen_at: integer(row, "seen_at"),
  api_key: text(row, "api_key"),
});

function textsIn(json: string): string[] {
  const values: unknown = JSON.parse(json);
  if (!Array.isArray(values)) throw damaged("roles");
  return values.map(String);
}

const sentIn: RowReader<SentRow> = (row) => ({
  wait: integer(row, "wait"),
  sid: text(row, "sid"),
  at: integer(row, "at"),
});

const handleIn: RowReader<HandleRow> = (row) => ({
  digest: text(row, "digest"),
  claims: text(row, "claims"),
  expires_at: integer(row, "expires_at"),
});

const leaseIn: RowReader<LeaseRow> = (row) => ({
  task: integer(row, "task"),
  attempt: integer(row, "attempt"),
  due: integer(row, "due"),
  fetched_at: integerOrNull(row, "fetched_at"),
  posted_at: integerOrNull(row, "posted_at"),
  void_until: integer(row, "void_until"),
});

const noticeIn: RowReader<NoticeRow> = (row) => ({
  id: text(row, "id"),
  target: text(row, "target"),
  body: text(row, "body"),
  tries: integer(row, "tries"),
  due: integer(row, "due"),
  created_at: integer(row, "created_at"),
});
