// The tables in PostgreSQL, as numbered migrations: `schema_version` says how many of them the database has had.

import { commandsSql } from "./commands-sql.ts";
import { commitSql } from "./commit-sql.ts";
import { documentsSql } from "./documents-sql.ts";
import { membershipSql } from "./membership-sql.ts";
import { operatorsSql } from "./operators-sql.ts";
import { pruneSql } from "./prune-sql.ts";
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
CREATE TABLE due_batches (id bigserial, incarnation bigint NOT NULL, events bigint NOT NULL);
CREATE TABLE batches (id bigint PRIMARY KEY, incarnation bigint NOT NULL, events bigint NOT NULL, base bigint NOT NULL);
CREATE UNIQUE INDEX batches_base ON batches (base);
CREATE TABLE counter (one boolean PRIMARY KEY DEFAULT true CHECK (one), next bigint NOT NULL);
INSERT INTO counter VALUES (true, 1);

-- Null when another node is giving places at the moment. Few batches are due at a time, so their table needs no index.
CREATE FUNCTION stamp() RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE v_next bigint; v_total bigint;
BEGIN
  IF NOT EXISTS (SELECT 1 FROM due_batches) THEN RETURN 0; END IF;
  SELECT next INTO v_next FROM counter FOR UPDATE SKIP LOCKED;
  IF NOT FOUND THEN RETURN NULL; END IF;
  WITH due AS (DELETE FROM due_batches RETURNING id, incarnation, events),
       placed AS (INSERT INTO batches SELECT id, incarnation, events, v_next + sum(events) OVER (ORDER BY id) - events FROM due
         RETURNING events)
    SELECT COALESCE(sum(events), 0) INTO v_total FROM placed;
  IF v_total > 0 THEN
    UPDATE counter SET next = v_next + v_total;
    PERFORM pg_notify('tutti_events_' || current_schema(), (v_next + v_total - 1)::text);
  END IF;
  RETURN v_total;
END $$;
`;

const first = [
  treeTables,
  sequenceTables,
  sharedSql,
  documentsSql,
  membershipSql,
  commandsSql,
  operatorsSql,
  commitSql,
  pruneSql,
].join("\n");

/**
 * What one version of Tutti knows of the tables. During an upgrade nodes of two versions work side by side, so a migration
 * only adds: tables, columns that may be absent, and functions with other parameters than those that the version before
 * calls. What it made unnecessary, the next one may remove. And a version can read a new kind of record before the next one
 * writes it.
 */
export interface KnownSchema {
  readonly migrations: readonly string[];
  /** Numbers of migrations, from 1, with which the version before cannot work: no node of that version may be there. */
  readonly breaking: readonly number[];
}

export const knownSchema: KnownSchema = { migrations: [first], breaking: [] };

/** A node has a label for each version of the tables that it knows, so that a tree can ask for one. */
export const schemaLabel = (version: number): string => `schema:${version}`;

export function schemaLabels({ migrations }: KnownSchema): string[] {
  return migrations.map((_, at) => schemaLabel(at + 1));
}

export const isSchemaLabel = (label: string): boolean => /^schema:\d+$/.test(label);

/** What a tree needs that was recorded by a version which knows more than this one. */
export const needOfNewer = (known: KnownSchema = knownSchema): string => schemaLabel(known.migrations.length + 1);

/** The oldest version that can work with the tables after so many migrations. */
export function oldestAfter(version: number, breaking: readonly number[]): number {
  return Math.max(1, version - 1, ...breaking.filter((each) => each <= version));
}
