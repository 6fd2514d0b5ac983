// Rows that all nodes share: each change is one conditional statement, and every changed row is noted for the other nodes.

import type { NodeWrite, TreeWrite } from "./batch-rows.ts";
import { documentsTable } from "./documents-sql.ts";

/** The tables, their columns and their keys: the same in the database and in the cache of each node. */
export const sharedTables = {
  meta: { columns: ["key", "value"], key: ["key"] },
  api_keys: { columns: ["id", "name", "role", "digest", "created_at", "revoked_at"], key: ["id"] },
  operators: { columns: ["sid", "digest", "roles", "created_at", "seen_at", "api_key"], key: ["sid"] },
  operator_roles: { columns: ["role", "sid"], key: ["role"] },
  tickets: { columns: ["digest", "sid", "expires_at", "claim", "api_key"], key: ["digest"] },
  page_tokens: { columns: ["digest", "api_key", "created_at", "expires_at"], key: ["digest"] },
  sent: { columns: ["wait", "sid", "at"], key: ["wait"] },
  handles: { columns: ["digest", "claims", "expires_at"], key: ["digest"] },
  leases: {
    columns: ["task", "attempt", "due", "fetched_at", "posted_at", "void_until", "api_key", "revoked_at"],
    key: ["task", "attempt"],
  },
  threads: { columns: ["id", "name", "project", "kind", "created_at", "said_at", "forked_from"], key: ["id"] },
  thread_entries: { columns: ["thread", "position", "task", "until"], key: ["thread", "position"] },
  notices: { columns: ["id", "target", "body", "tries", "due", "created_at"], key: ["id"] },
  documents: { columns: ["name", "version", "body", "changed_by", "changed_at"], key: ["name"] },
} as const satisfies Readonly<Record<string, { readonly columns: readonly string[]; readonly key: readonly string[] }>>;

const untaken = "leases.fetched_at IS NULL AND leases.posted_at IS NULL";
const inForce = "leases.void_until < v[3]::bigint AND leases.revoked_at IS NULL";
const isSentTo = (wait: string, sid: string): string =>
  `(${wait} IS NULL OR EXISTS (SELECT 1 FROM sent WHERE wait = ${wait}::bigint AND sid = ${sid}))`;
const roles = (value: string): string => `(SELECT r.value FROM jsonb_array_elements_text(${value}::jsonb) AS r(value))`;

/** By the names of the embedded store's writes. `v` holds the values of one, in their order. */
const changes: Readonly<Record<Exclude<NodeWrite, TreeWrite>, string>> = {
  putSetting: `INSERT INTO meta VALUES (v[1], v[2]) ON CONFLICT (key) DO UPDATE SET value = excluded.value`,
  addKey: `INSERT INTO api_keys VALUES (v[1], v[2], v[3], v[4], v[5]::bigint, v[6]::bigint)`,
  revokeKey: `UPDATE api_keys SET revoked_at = v[1]::bigint WHERE id = v[2] AND revoked_at IS NULL`,
  revokeTickets: `DELETE FROM tickets WHERE api_key = v[1]`,
  revokePageTokens: `DELETE FROM page_tokens WHERE api_key = v[1]`,
  revokeOperators: `DELETE FROM operators WHERE api_key = v[1]`,
  revokeRoles: `DELETE FROM operator_roles WHERE sid NOT IN (SELECT sid FROM operators)`,
  revokeLeases: `UPDATE leases SET revoked_at = v[1]::bigint, void_until = GREATEST(void_until, due)
    WHERE api_key = v[2] AND revoked_at IS NULL`,
  addOperator: `INSERT INTO operators SELECT v[1], v[2], v[3], v[4]::bigint, v[5]::bigint, v[6]
    WHERE NOT EXISTS (SELECT 1 FROM operator_roles WHERE role IN ${roles("v[3]")})
      AND NOT EXISTS (SELECT 1 FROM api_keys WHERE id = v[6] AND revoked_at IS NOT NULL)`,
  addRoles: `INSERT INTO operator_roles SELECT r.value, v[1] FROM jsonb_array_elements_text(v[2]::jsonb) AS r(value)
    WHERE EXISTS (SELECT 1 FROM operators WHERE sid = v[1])`,
  touchOperator: `UPDATE operators SET seen_at = GREATEST(seen_at, v[1]::bigint) WHERE sid = v[2]`,
  removeOperator: `DELETE FROM operators WHERE sid = v[1]`,
  removeIdleOperator: `DELETE FROM operators WHERE sid = v[1] AND seen_at <= v[2]::bigint`,
  removeTickets: `DELETE FROM tickets WHERE sid = v[1] AND NOT EXISTS (SELECT 1 FROM operators WHERE sid = v[1])`,
  removeRoles: `DELETE FROM operator_roles WHERE sid = v[1] AND NOT EXISTS (SELECT 1 FROM operators WHERE sid = v[1])`,
  putSent: `INSERT INTO sent VALUES (v[1]::bigint, v[2], v[3]::bigint)
    ON CONFLICT (wait) DO UPDATE SET sid = excluded.sid, at = excluded.at
    WHERE sent.sid = excluded.sid OR sent.sid NOT IN (SELECT sid FROM operators)`,
  removeSent: `DELETE FROM sent WHERE wait = v[1]::bigint AND sid = v[2]`,
  putHandle: `INSERT INTO handles VALUES (v[1], v[2], v[3]::bigint)
    ON CONFLICT (digest) DO UPDATE SET claims = excluded.claims, expires_at = excluded.expires_at`,
  dropHandle: `DELETE FROM handles WHERE digest = v[1]`,
  addTicket: `INSERT INTO tickets VALUES (v[1], v[2], v[3]::bigint, NULL, v[4])`,
  claimTicket: `UPDATE tickets SET claim = v[1] WHERE digest = v[2] AND claim IS NULL`,
  trimTickets: `DELETE FROM tickets WHERE expires_at < v[1]::bigint
    OR digest NOT IN (SELECT digest FROM tickets ORDER BY expires_at DESC LIMIT v[2]::bigint)`,
  addPageToken: `INSERT INTO page_tokens SELECT v[1], v[2], v[3]::bigint, v[4]::bigint
    WHERE EXISTS (SELECT 1 FROM api_keys WHERE id = v[2] AND revoked_at IS NULL)`,
  dropPageToken: `DELETE FROM page_tokens WHERE digest = v[1]`,
  trimPageTokens: `DELETE FROM page_tokens WHERE expires_at < v[1]::bigint OR (api_key = v[2] AND digest NOT IN
    (SELECT digest FROM page_tokens WHERE api_key = v[2] ORDER BY created_at DESC LIMIT v[3]::bigint))`,
  offerLease: `INSERT INTO leases SELECT v[1]::bigint, v[2]::int, v[3]::bigint, NULL, NULL, 0, v[4], NULL
    WHERE ${isSentTo("v[6]", "v[7]")}
    ON CONFLICT (task, attempt) DO UPDATE SET due = excluded.due, api_key = excluded.api_key, revoked_at = NULL,
      void_until = CASE WHEN leases.due <= v[5]::bigint THEN GREATEST(leases.void_until, leases.due)
        ELSE leases.void_until END
    WHERE ${untaken}`,
  voidOffer: `UPDATE leases SET void_until = due
    WHERE task = v[1]::bigint AND attempt = v[2]::int AND ${untaken} AND ${isSentTo("v[3]", "v[4]")}`,
  recordFetch: `INSERT INTO leases VALUES (v[1]::bigint, v[2]::int, v[3]::bigint, v[4]::bigint, NULL, 0, '', NULL)
    ON CONFLICT (task, attempt) DO UPDATE SET
      due = CASE WHEN leases.posted_at IS NULL THEN v[3]::bigint ELSE GREATEST(leases.due, v[5]::bigint) END,
      fetched_at = COALESCE(leases.fetched_at, v[4]::bigint)
    WHERE ${inForce}`,
  recordProgress: `INSERT INTO leases VALUES (v[1]::bigint, v[2]::int, v[5]::bigint, NULL, v[4]::bigint, 0, '', NULL)
    ON CONFLICT (task, attempt) DO UPDATE SET due = v[5]::bigint, posted_at = v[4]::bigint WHERE ${inForce}`,
  extendLease: `INSERT INTO leases VALUES (v[1]::bigint, v[2]::int, v[4]::bigint, NULL, NULL, 0, '', NULL)
    ON CONFLICT (task, attempt) DO UPDATE SET
      due = GREATEST(leases.due, CASE WHEN leases.posted_at IS NULL THEN v[4]::bigint ELSE v[5]::bigint END)
    WHERE ${inForce}`,
  addThread: `INSERT INTO threads VALUES (v[1]::bigint, v[2], v[3], v[4], v[5]::bigint, v[6]::bigint, v[7]::bigint)`,
  // Another node may have said something at the same position meanwhile: both stay, one after the other.
  addThreadEntry: `INSERT INTO thread_entries SELECT v[1]::bigint, GREATEST(v[2]::bigint, COALESCE(MAX(position), 0) + 1),
      v[3]::bigint, v[4]::bigint FROM thread_entries WHERE thread = v[1]::bigint`,
  touchThread: `UPDATE threads SET said_at = GREATEST(said_at, v[1]::bigint) WHERE id = v[2]::bigint`,
  touchThreadsOf: `UPDATE threads SET said_at = GREATEST(said_at, v[1]::bigint)
    WHERE id IN (SELECT thread FROM thread_entries WHERE task = v[2]::bigint)`,
  copyThreadEntries: `INSERT INTO thread_entries SELECT v[1]::bigint, position, task,
      CASE WHEN position = v[3]::bigint THEN v[4]::bigint ELSE until END
    FROM thread_entries WHERE thread = v[2]::bigint AND position <= v[3]::bigint`,
  putNotice: `INSERT INTO notices VALUES (v[1], v[2], v[3], v[4]::int, v[5]::bigint, v[6]::bigint)
    ON CONFLICT (id) DO UPDATE SET target = excluded.target, body = excluded.body, tries = excluded.tries,
      due = excluded.due, created_at = excluded.created_at`,
  removeNotice: `DELETE FROM notices WHERE id = v[1]`,
  placeOperator: `INSERT INTO operator_places SELECT v[1], v[2]::bigint, v[3]
    WHERE EXISTS (SELECT 1 FROM operators WHERE sid = v[1])
    ON CONFLICT (sid) DO UPDATE SET node = excluded.node, connection = excluded.connection`,
  leavePlace: `DELETE FROM operator_places WHERE sid = v[1] AND connection = v[2]`,
  takeCommand: `UPDATE commands SET taken = true WHERE id = v[1]::bigint`,
  endCommand: `UPDATE commands SET outcome = v[2] WHERE id = v[1]::bigint AND outcome IS NULL;
    PERFORM pg_notify('tutti_commands_' || current_schema(), 'done ' || v[1])`,
};

const branches = Object.entries(changes).map(([name, sql]) => `WHEN '${name}' THEN ${sql};`);
const triggers = Object.keys(sharedTables).map(
  (table) =>
    `CREATE TRIGGER ${table}_changed AFTER INSERT OR UPDATE OR DELETE ON ${table}
       FOR EACH ROW EXECUTE FUNCTION note_change();`,
);

export const sharedSql = `
CREATE TABLE meta (key text PRIMARY KEY, value text NOT NULL);
CREATE TABLE api_keys (
  id text PRIMARY KEY, name text NOT NULL, role text NOT NULL, digest text NOT NULL, created_at bigint NOT NULL,
  revoked_at bigint
);
CREATE TABLE operators (
  sid text PRIMARY KEY, digest text NOT NULL, roles text NOT NULL, created_at bigint NOT NULL, seen_at bigint NOT NULL,
  api_key text NOT NULL
);
CREATE TABLE operator_roles (role text PRIMARY KEY, sid text NOT NULL);
CREATE TABLE tickets (
  digest text PRIMARY KEY, sid text NOT NULL, expires_at bigint NOT NULL, claim text, api_key text NOT NULL
);
CREATE TABLE page_tokens (
  digest text PRIMARY KEY, api_key text NOT NULL, created_at bigint NOT NULL, expires_at bigint NOT NULL
);
CREATE TABLE sent (wait bigint PRIMARY KEY, sid text NOT NULL, at bigint NOT NULL);
CREATE TABLE handles (digest text PRIMARY KEY, claims text NOT NULL, expires_at bigint NOT NULL);
CREATE TABLE leases (
  task bigint NOT NULL, attempt int NOT NULL, due bigint NOT NULL, fetched_at bigint, posted_at bigint,
  void_until bigint NOT NULL, api_key text NOT NULL, revoked_at bigint, PRIMARY KEY (task, attempt)
);
CREATE TABLE notices (
  id text PRIMARY KEY, target text NOT NULL, body text NOT NULL, tries int NOT NULL, due bigint NOT NULL,
  created_at bigint NOT NULL
);
CREATE TABLE threads (
  id bigint PRIMARY KEY, name text, project text NOT NULL, kind text NOT NULL, created_at bigint NOT NULL,
  said_at bigint NOT NULL, forked_from bigint
);
CREATE INDEX threads_name ON threads (project, name) WHERE name IS NOT NULL;
CREATE INDEX threads_said ON threads (said_at, id);
CREATE TABLE thread_entries (
  thread bigint NOT NULL, position bigint NOT NULL, task bigint NOT NULL, until bigint, PRIMARY KEY (thread, position)
);
CREATE INDEX thread_entries_task ON thread_entries (task, thread);
${documentsTable}
CREATE TABLE shared_version (one boolean PRIMARY KEY DEFAULT true CHECK (one), version bigint NOT NULL);
INSERT INTO shared_version VALUES (true, 1);
CREATE TABLE shared_changes (
  id bigserial PRIMARY KEY, version bigint NOT NULL, name text NOT NULL, row jsonb NOT NULL, gone boolean NOT NULL
);
CREATE INDEX shared_changes_version ON shared_changes (version);

CREATE FUNCTION note_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO shared_changes (version, name, row, gone)
    SELECT version, TG_TABLE_NAME, to_jsonb(COALESCE(NEW, OLD)), TG_OP = 'DELETE' FROM shared_version;
  RETURN NULL;
END $$;
${triggers.join("\n")}

CREATE FUNCTION apply_shared(p_op jsonb) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  v text[] := (SELECT array_agg(value ORDER BY ordinality)
    FROM jsonb_array_elements_text(p_op -> 1) WITH ORDINALITY);
BEGIN
  CASE p_op ->> 0
    ${branches.join("\n    ")}
  END CASE;
END $$;
`;
