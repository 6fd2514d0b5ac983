// The database function that is one commit of one node: the fence, the idempotence and all rows of a tick, in one transaction.

import { batchColumns, type BatchTable, batchTables } from "./batch-columns.ts";
import { arraysOf, type BatchRows } from "./batch-rows.ts";
import { binaryArray } from "./binary-array.ts";

/** Its errors: the node is not alive any more; the database has forgotten commits that it had acknowledged. */
export const fencedCode = "TU001";
export const forgottenCode = "TU002";

const parameter = (table: BatchTable, column: string): string => `p_${table}_${column}`;

/** The rows of a table as the function was given them. */
function given(table: BatchTable, more: readonly string[] = []): string {
  const names = [...batchColumns[table].map(({ name }) => name), ...more];
  return `unnest(${names.map((name) => parameter(table, name)).join(", ")}) AS u(${names.join(", ")})`;
}

function when(table: BatchTable, work: string): string {
  const [first] = batchColumns[table];
  return `IF cardinality(${parameter(table, first?.name ?? "")}) > 0 THEN ${work} END IF;`;
}

function insert(table: BatchTable, into: string = table): string {
  const names = batchColumns[table].map(({ name }) => name).join(", ");
  return when(table, `INSERT INTO ${into} (${names}) SELECT ${names} FROM ${given(table)};`);
}

const logColumns = batchColumns.log.map(({ name }) => name).join(", ");

/** What is done with the rows of each table; one after the other, in the order of the tables. */
const work: Readonly<Record<BatchTable, string>> = {
  tasks: when(
    "tasks",
    `INSERT INTO tasks SELECT * FROM ${given("tasks")};
     INSERT INTO trees (root, owner) SELECT u.id, p_incarnation FROM ${given("tasks")} WHERE u.parent IS NULL;`,
  ),
  request_previews: insert("request_previews"),
  runs: insert("runs"),
  step_starts: insert("step_starts"),
  notes: when(
    "notes",
    `UPDATE step_starts s SET note = u.note FROM ${given("notes")} WHERE s.run = u.run AND s.key = u.key;`,
  ),
  timers: insert("timers"),
  waits: insert("waits"),
  unanswered: when("unanswered", `DELETE FROM answers WHERE wait = ANY(p_unanswered_wait);`),
  answers: insert("answers"),
  settled: when("settled", `UPDATE waits w SET settled = u.settled FROM ${given("settled")} WHERE w.id = u.wait;`),
  mail: insert("mail"),
  results: insert("results"),
  result_previews: insert("result_previews"),
  opened: insert("opened", "open"),
  moved: when("moved", `UPDATE open o SET status = u.status FROM ${given("moved")} WHERE o.task = u.task;`),
  ended: when("ended", `DELETE FROM open WHERE task = ANY(p_ended_task);`),
  resumes: when(
    "resumes",
    `INSERT INTO resumes SELECT * FROM ${given("resumes")} ON CONFLICT (task) DO UPDATE SET count = excluded.count;`,
  ),
  not_resumed: when("not_resumed", `DELETE FROM resumes WHERE task = ANY(p_not_resumed_task);`),
  keys: when(
    "keys",
    `INSERT INTO keys (key, task, content) SELECT * FROM ${given("keys")} ON CONFLICT (key)
       DO UPDATE SET task = excluded.task, content = excluded.content, claimed_by = NULL, pruned_at = NULL;`,
  ),
  placed: when(
    "placed",
    `UPDATE trees t SET needs = ARRAY(SELECT jsonb_array_elements_text(u.needs::jsonb)), owner = CASE WHEN u.here = 1 THEN t.owner END
       FROM ${given("placed")} WHERE t.root = u.root;`,
  ),
  closed: when("closed", `UPDATE trees SET open = false WHERE root = ANY(p_closed_root);`),
  log: when(
    "log",
    `IF p_events > 0 THEN
       INSERT INTO due_batches (incarnation, events) VALUES (p_incarnation, p_events) RETURNING id INTO v_batch;
     END IF;
     INSERT INTO log (${logColumns}, place, batch) SELECT u.*, CASE WHEN u.place IS NOT NULL THEN v_batch END
       FROM ${given("log", ["place"])};`,
  ),
};

const parametersOf = (tables: readonly BatchTable[]): string[] =>
  tables.flatMap((table) => batchColumns[table].map(({ name, type }) => `${parameter(table, name)} ${type}[]`));

const workOn = (tables: readonly BatchTable[]): string =>
  batchTables
    .filter((table) => tables.includes(table))
    .map((table) => work[table])
    .join("\n  ");

/** Most commits of a node with little to do are of these rows alone. */
const stepTables: readonly BatchTable[] = ["step_starts", "log"];
const placeParameters = ["p_events bigint", `${parameter("log", "place")} int[]`];

/**
 * `last_batch` is both: a node that is not alive changes no row, and a batch whose answer was lost is there already when it
 * is sent again. Lines that are events get their place in the batch; the batch gets its place in the sequence later.
 * `commit_batch` returns the version of the shared rows after it. `commit_steps` is the same for a batch that has rows of
 * few tables: the many empty lists would be half of its work.
 */
export const commitSql = `
-- False: the batch was taken before, perhaps just before the node was declared dead.
CREATE FUNCTION pass_fence(p_incarnation bigint, p_number bigint) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  v_last bigint;
  v_alive boolean;
BEGIN
  UPDATE nodes SET last_batch = p_number WHERE incarnation = p_incarnation AND alive AND last_batch = p_number - 1;
  IF FOUND THEN RETURN true; END IF;
  SELECT last_batch, alive INTO v_last, v_alive FROM nodes WHERE incarnation = p_incarnation;
  IF v_last = p_number THEN RETURN false; END IF;
  IF v_alive AND v_last < p_number THEN
    RAISE EXCEPTION 'forgotten: the last batch of node % is %, and % was sent', p_incarnation, v_last, p_number
      USING ERRCODE = '${forgottenCode}';
  END IF;
  RAISE EXCEPTION 'fenced: node % is not alive any more', p_incarnation USING ERRCODE = '${fencedCode}';
END $$;

CREATE FUNCTION commit_batch(p_incarnation bigint, p_number bigint, p_shared jsonb, ${[...placeParameters, ...parametersOf(batchTables)].join(", ")})
RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  v_batch bigint;
  v_version bigint := 0;
  v_op jsonb;
BEGIN
  IF NOT pass_fence(p_incarnation, p_number) THEN RETURN (SELECT version FROM shared_version); END IF;
  ${workOn(batchTables)}
  IF jsonb_array_length(p_shared) > 0 THEN
    -- Changes of shared rows are made one commit after the other, so that every node can follow them in order.
    UPDATE shared_version SET version = version + 1 RETURNING version INTO v_version;
    FOR v_op IN SELECT value FROM jsonb_array_elements(p_shared) WITH ORDINALITY ORDER BY ordinality LOOP
      PERFORM apply_shared(v_op);
    END LOOP;
    PERFORM pg_notify('tutti_shared_' || current_schema(), v_version::text);
  END IF;
  RETURN v_version;
END $$;

CREATE FUNCTION commit_steps(p_incarnation bigint, p_number bigint, ${[...placeParameters, ...parametersOf(stepTables)].join(", ")})
RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  v_batch bigint;
BEGIN
  IF NOT pass_fence(p_incarnation, p_number) THEN RETURN 0; END IF;
  ${workOn(stepTables)}
  RETURN 0;
END $$;
`;

const marks = (count: number): string => Array.from({ length: count }, (_, at) => `$${at + 1}`).join(", ");

/** A prepared statement that is one commit. */
export interface CommitStatement {
  /** Each name stands for one text. */
  readonly name: string;
  readonly text: string;
  readonly values: readonly unknown[];
}

const stepsCall = `SELECT commit_steps(${marks(4 + parametersOf(stepTables).length)}) AS version`;
const batchCall = `SELECT commit_batch(${marks(5 + parametersOf(batchTables).length)}) AS version`;

/** The call that commits any batch. */
export function commitCall(incarnation: number, number: number, batch: BatchRows): CommitStatement {
  const { tables, places, events, shared } = batch;
  const isSteps = shared.length === 0 && [...tables.keys()].every((table) => stepTables.includes(table));
  return isSteps
    ? {
        name: "commit_steps",
        text: stepsCall,
        values: [incarnation, number, events, binaryArray("int", places), ...arraysOf(batch, stepTables)],
      }
    : {
        name: "commit_batch",
        text: batchCall,
        values: [
          incarnation,
          number,
          JSON.stringify(shared),
          events,
          binaryArray("int", places),
          ...arraysOf(batch, batchTables),
        ],
      };
}
