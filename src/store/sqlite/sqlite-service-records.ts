// The service's records in SQLite, on the connection and the write queue of the store they belong to.

import type {
  ServiceRecords,
  HandleRow,
  KeyRow,
  LeaseRow,
  NoticeRow,
  OperatorRow,
  PageTokenRow,
  SentRow,
  TicketRow,
} from "../service-records.ts";
import type { OpenedDatabase } from "./database.ts";
import { damaged, integer, integerOrNull, type RowReader, text, settingKey, textIn, textOrNull } from "./rows.ts";
import { readsOver } from "./statements.ts";
import type { WriteQueue } from "./writer.ts";

export function serviceRecordsOver(
  { database, path, bringIn }: Omit<OpenedDatabase, "close">,
  writer: WriteQueue,
): ServiceRecords {
  const { all, one } = readsOver(database, path);
  const ofTrees = readsOver(database, path, bringIn && (() => bringIn()));
  const setting = one("SELECT value FROM meta WHERE key = ?", textIn);

  return {
    keys: all("SELECT * FROM api_keys ORDER BY created_at, id", keyIn),
    addKey: (row) => writer.push("addKey", [row.id, row.name, row.role, row.digest, row.created_at, row.revoked_at]),
    revokeKey(id, at) {
      writer.push("revokeKey", [at, id]);
      writer.push("revokeTickets", [id]);
      writer.push("revokePageTokens", [id]);
      writer.push("revokeOperators", [id]);
      writer.push("revokeRoles", []);
      writer.push("revokeLeases", [at, id]);
    },
    operators: all("SELECT * FROM operators ORDER BY created_at, sid", operatorIn),
    operator: one("SELECT * FROM operators WHERE sid = ?", operatorIn),
    sidOfRole: one("SELECT sid AS value FROM operator_roles WHERE role = ?", textIn),
    addOperator({ sid, digest, roles, created_at, seen_at, api_key }) {
      writer.push("addOperator", [sid, digest, JSON.stringify(roles), created_at, seen_at, api_key]);
      writer.push("addRoles", [sid, JSON.stringify(roles)]);
    },
    touchOperator: (sid, seenAt) => writer.push("touchOperator", [seenAt, sid]),
    removeOperator(sid) {
      writer.push("removeOperator", [sid]);
      writer.push("removeRoles", [sid]);
      writer.push("removeTickets", [sid]);
    },
    removeIdleOperator(sid, lastSeen) {
      writer.push("removeIdleOperator", [sid, lastSeen]);
      writer.push("removeRoles", [sid]);
      writer.push("removeTickets", [sid]);
    },
    sent: one("SELECT * FROM sent WHERE wait = ?", sentIn),
    putSent: (row) => writer.push("putSent", [row.wait, row.sid, row.at]),
    removeSent: (wait, sid) => writer.push("removeSent", [wait, sid]),
    handle: one("SELECT * FROM handles WHERE digest = ?", handleIn),
    putHandle: (row) => writer.push("putHandle", [row.digest, row.claims, row.expires_at]),
    expiredHandles: all("SELECT * FROM handles WHERE expires_at < ?", handleIn),
    dropHandle: (digest) => writer.push("dropHandle", [digest]),
    ticket: one("SELECT * FROM tickets WHERE digest = ?", ticketIn),
    addTicket: (row) => writer.push("addTicket", [row.digest, row.sid, row.expires_at, row.api_key]),
    claimTicket: (digest, claim) => writer.push("claimTicket", [claim, digest]),
    trimTickets: ({ expiredBefore, keep }) => writer.push("trimTickets", [expiredBefore, keep]),
    pageToken: one("SELECT * FROM page_tokens WHERE digest = ?", pageTokenIn),
    addPageToken: (row) => writer.push("addPageToken", [row.digest, row.api_key, row.created_at, row.expires_at]),
    dropPageToken: (digest) => writer.push("dropPageToken", [digest]),
    trimPageTokens: ({ expiredBefore, apiKey, keep }) => writer.push("trimPageTokens", [expiredBefore, apiKey, keep]),
    lease: one("SELECT * FROM leases WHERE task = ? AND attempt = ?", leaseIn),
    leasesOfKey: ofTrees.all(`${openLeases} WHERE leases.api_key = ?`, leaseIn),
    revokedLeases: ofTrees.all(`${openLeases} WHERE leases.revoked_at IS NOT NULL`, leaseIn),
    offerLease: ({ task, attempt, expires_at }, { apiKey, at, sentTo }) =>
      writer.push("offerLease", [task, attempt, expires_at, apiKey, at, sentTo?.wait ?? null, sentTo?.sid ?? null]),
    voidOffer: (task, attempt, sentTo) =>
      writer.push("voidOffer", [task, attempt, sentTo?.wait ?? null, sentTo?.sid ?? null]),
    recordFetch: ({ task, attempt, expires_at }, { at, due }) =>
      writer.push("recordFetch", [task, attempt, expires_at, at, due]),
    recordProgress: ({ task, attempt, expires_at }, { at, due }) =>
      writer.push("recordProgress", [task, attempt, expires_at, at, due]),
    extendLease: ({ task, attempt, expires_at }, { beforeProgress, afterProgress }) =>
      writer.push("extendLease", [task, attempt, expires_at, beforeProgress, afterProgress]),
    notices: all("SELECT * FROM notices ORDER BY created_at, id", noticeIn),
    putNotice: (row) => writer.push("putNotice", [row.id, row.target, row.body, row.tries, row.due, row.created_at]),
    removeNotice: (id) => writer.push("removeNotice", [id]),
    setting: (name) => setting(settingKey(name)),
    putSetting: (name, value) => writer.push("putSetting", [settingKey(name), value]),
  };
}

const openLeases = "SELECT leases.* FROM open CROSS JOIN leases ON leases.task = open.task";

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

const ticketIn: RowReader<TicketRow> = (row) => ({
  digest: text(row, "digest"),
  sid: text(row, "sid"),
  expires_at: integer(row, "expires_at"),
  claim: textOrNull(row, "claim"),
  api_key: text(row, "api_key"),
});

const pageTokenIn: RowReader<PageTokenRow> = (row) => ({
  digest: text(row, "digest"),
  api_key: text(row, "api_key"),
  created_at: integer(row, "created_at"),
  expires_at: integer(row, "expires_at"),
});

const leaseIn: RowReader<LeaseRow> = (row) => ({
  task: integer(row, "task"),
  attempt: integer(row, "attempt"),
  due: integer(row, "due"),
  fetched_at: integerOrNull(row, "fetched_at"),
  posted_at: integerOrNull(row, "posted_at"),
  void_until: integer(row, "void_until"),
  api_key: text(row, "api_key"),
  revoked_at: integerOrNull(row, "revoked_at"),
});

const noticeIn: RowReader<NoticeRow> = (row) => ({
  id: text(row, "id"),
  target: text(row, "target"),
  body: text(row, "body"),
  tries: integer(row, "tries"),
  due: integer(row, "due"),
  created_at: integer(row, "created_at"),
});
