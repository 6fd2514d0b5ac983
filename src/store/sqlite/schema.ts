// The tables, as numbered migrations: the database's user_version says how many of them it has had.

import { addMissingPreviews } from "./result-preview.ts";
import { addMissingRequests } from "./task-requests.ts";

/**
 * Append tables with an integer key: measured, that layout takes four times the rows per second of a clustered one when
 * rows have bodies; claims have none and are clustered. Rows are what costs, so a step and the event that tells of it are
 * one line of the log, and one index finds both. Names are made from integer ids and need none.
 */
const first = `
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE tasks (
  id INTEGER PRIMARY KEY, parent INTEGER, root INTEGER NOT NULL, depth INTEGER NOT NULL, kind TEXT NOT NULL,
  agent TEXT NOT NULL, detached INTEGER NOT NULL, created_at INTEGER NOT NULL, deadline INTEGER, shared INTEGER,
  body TEXT NOT NULL
);
CREATE INDEX tasks_parent ON tasks (parent);
CREATE INDEX tasks_root ON tasks (root);
CREATE TABLE keys (key TEXT PRIMARY KEY, task INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE results (task INTEGER PRIMARY KEY, status TEXT NOT NULL, at INTEGER NOT NULL, body TEXT NOT NULL);
CREATE TABLE runs (
  id INTEGER PRIMARY KEY, task INTEGER NOT NULL, attempt INTEGER NOT NULL, run INTEGER NOT NULL, body TEXT
);
CREATE UNIQUE INDEX runs_place ON runs (task, attempt, run);
CREATE TABLE log (
  id INTEGER PRIMARY KEY, run INTEGER NOT NULL, key TEXT NOT NULL, at INTEGER NOT NULL, kind INTEGER NOT NULL,
  type TEXT, input INTEGER NOT NULL, tokens INTEGER NOT NULL, money INTEGER NOT NULL, body TEXT, state TEXT
);
CREATE UNIQUE INDEX log_key ON log (run, key);
CREATE TABLE claims (
  run INTEGER NOT NULL, key TEXT NOT NULL, input INTEGER NOT NULL, body TEXT, PRIMARY KEY (run, key)
) WITHOUT ROWID;
CREATE TABLE waits (
  id INTEGER PRIMARY KEY, task INTEGER NOT NULL, root INTEGER NOT NULL, run INTEGER NOT NULL, key TEXT NOT NULL,
  raised_at INTEGER NOT NULL, due INTEGER NOT NULL, body TEXT NOT NULL
);
CREATE UNIQUE INDEX waits_key ON waits (run, key);
CREATE INDEX waits_root ON waits (root);
CREATE TABLE answers (wait INTEGER PRIMARY KEY, kind TEXT NOT NULL, at INTEGER NOT NULL, body TEXT);
CREATE TABLE mail (id INTEGER PRIMARY KEY, task INTEGER NOT NULL, body TEXT NOT NULL);
CREATE INDEX mail_task ON mail (task);
`;

/**
 * The records of the service, and small tables and indexes of what is open, so that nobody has to read what is over:
 * a row in `open` for each task without a result, and waits whose `settled` is 0.
 */
const second = `
CREATE TABLE open (task INTEGER PRIMARY KEY);
INSERT INTO open SELECT id FROM tasks WHERE id NOT IN (SELECT task FROM results);
CREATE INDEX results_unusual ON results (task) WHERE status <> 'completed';
ALTER TABLE waits ADD COLUMN settled INTEGER NOT NULL DEFAULT 0;
UPDATE waits SET settled = 1 WHERE id IN (SELECT wait FROM answers);
CREATE INDEX waits_open ON waits (task) WHERE settled = 0;
CREATE TABLE api_keys (
  id TEXT PRIMARY KEY, name TEXT NOT NULL, role TEXT NOT NULL, digest TEXT NOT NULL, created_at INTEGER NOT NULL,
  revoked_at INTEGER
) WITHOUT ROWID;
CREATE TABLE operators (
  sid TEXT PRIMARY KEY, digest TEXT NOT NULL, roles TEXT NOT NULL, created_at INTEGER NOT NULL, seen_at INTEGER NOT NULL,
  api_key TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE sent (wait INTEGER PRIMARY KEY, sid TEXT NOT NULL, at INTEGER NOT NULL);
CREATE TABLE handles (digest TEXT PRIMARY KEY, claims TEXT NOT NULL, expires_at INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE leases (
  task INTEGER NOT NULL, attempt INTEGER NOT NULL, due INTEGER NOT NULL, fetched_at INTEGER, posted_at INTEGER,
  void_until INTEGER NOT NULL,
  PRIMARY KEY (task, attempt)
) WITHOUT ROWID;
CREATE TABLE notices (
  id TEXT PRIMARY KEY, target TEXT NOT NULL, body TEXT NOT NULL, tries INTEGER NOT NULL, due INTEGER NOT NULL,
  created_at INTEGER NOT NULL
) WITHOUT ROWID;
`;

/** Whether a task without a result is pending, running or asking: what its events and open asks said before `status` was kept. */
const statusOfOpen = `CASE
  WHEN EXISTS (SELECT 1 FROM waits WHERE waits.task = open.task AND waits.settled = 0 AND waits.ask IS NOT NULL)
    THEN 'input_required'
  WHEN EXISTS (SELECT 1 FROM runs JOIN log ON log.run = runs.id
    WHERE runs.task = open.task AND log.type IN ('task.started', 'run.started')) THEN 'running'
  ELSE 'pending' END`;

/** An idempotency key was bound twice, the second time with the fingerprint of its content as the end of the key. */
const withFingerprint = `key LIKE 'once %' AND length(key) > 70 AND substr(key, -65, 1) = ' '
  AND substr(key, -64) NOT GLOB '*[^0-9a-f]*'`;

/**
 * What was read out of texts becomes columns: the status of an open task, the kind of an ask, when a timer is due, which
 * message a line took, what a key was used for, and the last ids that were given. What is written before a step that may
 * not be repeated is called a step start.
 */
const third = `
ALTER TABLE waits ADD COLUMN ask TEXT;
UPDATE waits SET ask = IFNULL(body ->> '$.ask.kind', 'question') WHERE body -> '$.ask' IS NOT NULL;
ALTER TABLE open ADD COLUMN status TEXT NOT NULL DEFAULT 'pending';
UPDATE open SET status = ${statusOfOpen};
CREATE TABLE timers (run INTEGER NOT NULL, key TEXT NOT NULL, due INTEGER NOT NULL, PRIMARY KEY (run, key)) WITHOUT ROWID;
INSERT INTO timers SELECT run, key, CAST(substr(body, 2) AS INTEGER) FROM claims WHERE body LIKE '@%';
DELETE FROM claims WHERE body LIKE '@%';
ALTER TABLE claims RENAME TO step_starts;
ALTER TABLE step_starts RENAME COLUMN body TO note;
ALTER TABLE log ADD COLUMN mail INTEGER;
UPDATE log SET mail = CAST(body AS INTEGER), body = substr(body, instr(body, ' ') + 1) WHERE kind = 5;
ALTER TABLE keys ADD COLUMN content TEXT NOT NULL DEFAULT '';
UPDATE keys SET content = IFNULL((SELECT substr(other.key, -64) FROM keys AS other
  WHERE other.task = keys.task AND other.key = keys.key || ' ' || substr(other.key, -64) AND other.key <> keys.key), '')
  WHERE key LIKE 'once %';
DELETE FROM keys WHERE ${withFingerprint} AND content = '';
CREATE TABLE counters (name TEXT PRIMARY KEY, last INTEGER NOT NULL) WITHOUT ROWID;
INSERT INTO counters SELECT substr(key, 6), CAST(value AS INTEGER) FROM meta WHERE key GLOB 'last_*';
DELETE FROM meta WHERE key GLOB 'last_*';
`;

/** One-time tickets of operators' WebSockets. The claim is a random id of whoever used the ticket; null while it is unused. */
const ticketsTable = `
CREATE TABLE tickets (
  digest TEXT PRIMARY KEY, sid TEXT NOT NULL, expires_at INTEGER NOT NULL, claim TEXT
) WITHOUT ROWID;
`;

/** Which operator session holds a name. The primary key is what makes names exclusive. */
const operatorRolesTable = `
CREATE TABLE operator_roles (role TEXT PRIMARY KEY, sid TEXT NOT NULL) WITHOUT ROWID;
CREATE INDEX operator_roles_sid ON operator_roles (sid);
INSERT INTO operator_roles SELECT roles.value, operators.sid FROM operators, json_each(operators.roles) AS roles;
`;

/** How often in a row a task was resumed without getting any further: the process ended each time while it ran. */
const resumesTable = `CREATE TABLE resumes (task INTEGER PRIMARY KEY, count INTEGER NOT NULL);`;

/** The key of the operator session through which a worker got its rights. */
const keyOfLease = `SELECT operators.api_key FROM waits JOIN runs ON runs.id = waits.run
  JOIN sent ON sent.wait = waits.id JOIN operators ON operators.sid = sent.sid
  WHERE waits.task = leases.task AND runs.attempt = leases.attempt AND waits.key = 'spawn'`;

/**
 * Tickets and leases belong to an API key and end with it. A lease whose operator has gone belongs to nobody who could
 * still revoke it, so it ends now. An idempotency key belongs to its caller, and is kept for a while when its task is
 * pruned. Nobody knows whose the old ones are, so every caller keeps them.
 */
const rightsOfKeys = `
DELETE FROM tickets;
ALTER TABLE tickets ADD COLUMN api_key TEXT NOT NULL DEFAULT '';
ALTER TABLE leases ADD COLUMN api_key TEXT NOT NULL DEFAULT '';
ALTER TABLE leases ADD COLUMN revoked_at INTEGER;
UPDATE leases SET api_key = IFNULL((${keyOfLease}), '');
UPDATE leases SET revoked_at = 0 WHERE api_key = '';
ALTER TABLE keys ADD COLUMN pruned_at INTEGER;
INSERT INTO keys (key, task, content) SELECT 'request ' || callers.id || ' ' || substr(keys.key, 6), task, content
  FROM keys, (SELECT id FROM api_keys WHERE revoked_at IS NULL UNION SELECT 'owner') AS callers
  WHERE keys.key LIKE 'once %';
DELETE FROM keys WHERE key LIKE 'once %';
`;

/**
 * What lists show, kept apart from the bodies, which may have megabytes: the beginning of each long result, and an index
 * with everything that finds an open wait.
 */
const listTables = `
CREATE TABLE result_previews (task INTEGER PRIMARY KEY, text TEXT NOT NULL);
${addMissingPreviews};
CREATE INDEX waits_listed ON waits (id, task, ask) WHERE settled = 0;
`;

/** The beginning of each long record of a task, for lists. */
const requestPreviews = `
CREATE TABLE request_previews (task INTEGER PRIMARY KEY, text TEXT NOT NULL);
${addMissingRequests};
`;

/** The tokens of pages that signed in. Each ends with its API key. */
const pageTokensTable = `
CREATE TABLE page_tokens (
  digest TEXT PRIMARY KEY, api_key TEXT NOT NULL, created_at INTEGER NOT NULL, expires_at INTEGER NOT NULL
) WITHOUT ROWID;
`;

/** Threads, each a list of root tasks in the order in which they were said. A conversation with the manager is one by itself. */
const threadTables = `
CREATE TABLE threads (
  id INTEGER PRIMARY KEY, name TEXT, project TEXT NOT NULL, kind TEXT NOT NULL, created_at INTEGER NOT NULL,
  said_at INTEGER NOT NULL, forked_from INTEGER
);
CREATE INDEX threads_name ON threads (project, name) WHERE name IS NOT NULL;
CREATE INDEX threads_said ON threads (said_at, id);
CREATE TABLE thread_entries (
  thread INTEGER NOT NULL, position INTEGER NOT NULL, task INTEGER NOT NULL, until INTEGER,
  PRIMARY KEY (thread, position)
) WITHOUT ROWID;
CREATE INDEX thread_entries_task ON thread_entries (task, thread);
INSERT INTO threads SELECT ROW_NUMBER() OVER (ORDER BY id), NULL,
  IFNULL(CASE WHEN json_valid(body) THEN body ->> '$.config.project' END, ''), 'manager', created_at, created_at, NULL
  FROM tasks WHERE kind = 'conversation' AND parent IS NULL;
INSERT INTO thread_entries SELECT ROW_NUMBER() OVER (ORDER BY id), 1, id, NULL
  FROM tasks WHERE kind = 'conversation' AND parent IS NULL;
`;

/**
 * No table changes. From here on a line with a message may leave out what follows from its place, and the usage may be a list of
 * numbers: a version that does not know that must not read the database.
 */
const shortMessages = "";

export const migrations: readonly string[] = [
  first,
  second,
  third,
  ticketsTable,
  operatorRolesTable,
  resumesTable,
  rightsOfKeys,
  listTables,
  requestPreviews,
  pageTokensTable,
  threadTables,
  shortMessages,
];
