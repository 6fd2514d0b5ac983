// The tables in PostgreSQL, as numbered migrations: `schema_version` says how many of them the database has had.

import { commandsSql } from "./commands-sql.ts";
import { commitSql } from "./commit-sql.ts";
import { membershipSql } from "./membership-sql.ts";
import { sharedSql } from "./shared-sql.ts";

/** Rows of trees have the columns of the embedded store. Only the node that owns a tree writes its rows. */
const treeTables = `
CREATE TABLE tasks (
  id bigint PRIMARY KEY, parent bigint, root bigint NOT NULL, depth int NOT NULL, kind text NOT NULL, agent text NOT NULL,
  detached int NOT NULL, created_at bigint NOT NULL, deadline bigint, shared bigint, body text NOT NULL
);
CREATE INDEX tasks_parent ON tasks (parent);
CREATE INDEX tasks_root ON tasks (root);
CREATE INDEX tasks_newest ON tasks (created_at, id);
CREATE TABLE open (task bigint PRIMARY KEY, status text NOT NULL);
CREATE TABLE keys (
  key text PRIMARY KEY, task bigint, content text NOT NULL DEFAULT '', claimed_by bigint, pruned_at bigint
);
CREATE INDEX keys_task ON keys (task);
CREATE TABLE results (task bigint PRIMARY KEY, status text NOT NULL, at bigint NOT NULL, body text NOT NULL);
CREATE INDEX results_unusual ON results (task) WHERE status <> 'completed';
CREATE TABLE result_previews (task bigint PRIMARY KEY, text text NOT NULL);
CREATE TABLE request_previews (task bigint PRIMARY KEY, text text NOT NULL);
CREATE TABLE runs (id bigint PRIMARY KEY, task bigint NOT NULL, attempt int NOT NULL, run int NOT NULL, body text);
CREATE UNIQUE INDEX runs_place ON runs (task, attempt, run);
CREATE TABLE log (
  id bigint PRIMARY KEY, run bigint NOT NULL, key text NOT NULL, at bigint NOT NULL, kind int NOT NULL, type text,
  input bigint NOT NULL, tokens bigint NOT NULL, money bigint NOT NULL, body text, state text, mail bigint,
  batch bigint, place int
);
CREATE UNIQUE INDEX log_key ON log (run, key);
CREATE INDEX log_place ON log (batch, place) WHERE batch IS NOT NULL;
CREATE TABLE step_starts (run bigint NOT NULL, key text NOT NULL, input bigint NOT NULL, note text, PRIMARY KEY (run, key));
CREATE TABLE timers (run bigint NOT NULL, key text NOT NULL, due bigint NOT NULL, PRIMARY KEY (run, key));
CREATE TABLE waits (
  id bigint PRIMARY KEY, task bigint NOT NULL, root bigint NOT NULL, run bigint NOT NULL, key text NOT NULL,
  raised_at bigint NOT NULL, due bigint NOT NULL, ask text, body text NOT NULL, settled int NOT NULL DEFAULT 0
);
CREATE UNIQUE INDEX waits_key ON waits (run, key);
CREATE INDEX waits_open ON waits (id, task, ask) WHERE settled = 0;
CREATE TABLE answers (wait bigint PRIMARY KEY, kind text NOT NULL, at bigint NOT NULL, body text);
CREATE TABLE mail (id bigint PRIMARY KEY, task bigint NOT NULL, body text NOT NULL);
CREATE TABLE resumes (task bigint PRIMARY KEY, count int NOT NULL);

-- The beginning of a text in the body of a row. A body that PostgreSQL cannot read as JSON, such as one that is nested very
-- deeply, gives none; it refuses NUL, which JSON allows.
CREATE FUNCTION text_in(p_body text, p_path text[], p_length int) RETURNS text LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN left(replace(p_body, '\\u0000', '\\ufffd')::json #>> p_path, p_length);
EXCEPTION WHEN OTHERS THEN
  RETURN NULL;
END $$;
`;

/**
 * Commits take no lock that others need. Whoever holds the counter gives all batches that are committed their places in the
 * one sequence: an event's is the base of its batch and its place in the batch.
 */
const sequenceTables = `
CREATE TABLE batches (id bigserial PRIMARY KEY, incarnation bigint NOT NULL, events bigint NOT NULL, base bigint);
CREATE UNIQUE INDEX batches_base ON batches (base) WHERE base IS NOT NULL;
CREATE INDEX batches_due ON batches (id) WHERE base IS NULL;
CREATE TABLE counter (one boolean PRIMARY KEY DEFAULT true CHECK (one), next bigint NOT NULL);
INSERT INTO counter VALUES (true, 1);

-- Null when another node is giving places at the moment. The plans are fixed: the statistics of a table that is new or grows
-- fast would make it read all batches there ever were.
CREATE FUNCTION stamp() RETURNS bigint LANGUAGE plpgsql SET enable_seqscan = off SET enable_bitmapscan = off AS $$
DECLARE v_first bigint; v_next bigint; v_due record;
BEGIN
  IF NOT EXISTS (SELECT 1 FROM batches WHERE base IS NULL) THEN RETURN 0; END IF;
  SELECT next INTO v_first FROM counter FOR UPDATE SKIP LOCKED;
  IF NOT FOUND THEN RETURN NULL; END IF;
  v_next := v_first;
  FOR v_due IN SELECT id, events FROM batches WHERE base IS NULL ORDER BY id LOOP
    UPDATE batches SET base = v_next WHERE id = v_due.id;
    v_next := v_next + v_due.events;
  END LOOP;
  IF v_next > v_first THEN
    UPDATE counter SET next = v_next;
    PERFORM pg_notify('tutti_events_' || current_schema(), (v_next - 1)::text);
  END IF;
  RETURN v_next - v_first;
END $$;
`;

export const migrations: readonly string[] = [
  [treeTables, sequenceTables, sharedSql, membershipSql, commandsSql, commitSql].join("\n"),
];
