// A commit of few rows as one statement: a node with little to do waits for every commit, and most of them are of this kind.

import { batchColumns, type BatchTable } from "./batch-columns.ts";
import { type BatchRows, plain } from "./batch-rows.ts";
import type { CommitStatement } from "./commit-sql.ts";

/** More rows than this go to the function that commits any batch: there the work on the rows is what costs. */
const fewRows = 8;
/** The database keeps a plan of each statement for each node. */
const maxStatements = 64;

interface Source {
  /** The rows, as `u`. */
  readonly given: string;
  readonly columns: string;
  readonly hasEvents: boolean;
}

const insertInto =
  (table: string) =>
  ({ given, columns }: Source): string =>
    `INSERT INTO ${table} (${columns}) SELECT u.* FROM fence, ${given}`;

/** The parts of one statement do not see what the others of it do, so only those are here that need not. */
const parts: Partial<Record<BatchTable, (source: Source) => string>> = {
  tasks: insertInto("tasks"),
  request_previews: insertInto("request_previews"),
  runs: insertInto("runs"),
  step_starts: insertInto("step_starts"),
  timers: insertInto("timers"),
  waits: insertInto("waits"),
  mail: insertInto("mail"),
  results: insertInto("results"),
  result_previews: insertInto("result_previews"),
  opened: insertInto("open"),
  moved: ({ given }) => `UPDATE open o SET status = u.status FROM fence, ${given} WHERE o.task = u.task`,
  ended: ({ given }) => `DELETE FROM open o USING fence, ${given} WHERE o.task = u.task`,
  closed: ({ given }) => `UPDATE trees t SET open = false FROM fence, ${given} WHERE t.root = u.root`,
  log: ({ given, columns, hasEvents }) =>
    hasEvents
      ? `INSERT INTO log (${columns}, batch) SELECT u.*, CASE WHEN u.place IS NOT NULL THEN due.id END FROM due, ${given}`
      : insertInto("log")({ given, columns, hasEvents }),
};

const texts = new Map<string, { readonly name: string; readonly text: string }>();

/** Undefined when the batch is not of this kind. */
export function commitFew(incarnation: number, number: number, batch: BatchRows): CommitStatement | undefined {
  const { tables, places, events, shared } = batch;
  // A tree that is made and over in one batch.
  if (shared.length > 0 || (tables.has("tasks") && tables.has("closed"))) return undefined;
  let count = 0;
  let shape = events > 0 ? "events" : "";
  for (const [table, rows] of tables) {
    count += rows.length;
    if (count > fewRows || parts[table] === undefined) return undefined;
    shape += ` ${table}${rows.length}`;
  }
  let known = texts.get(shape);
  if (known === undefined) {
    if (texts.size >= maxStatements) return undefined;
    known = { name: `commit_few_${texts.size}`, text: textOf(batch) };
    texts.set(shape, known);
  }
  const values: unknown[] = events > 0 ? [incarnation, number, events] : [incarnation, number];
  for (const [table, rows] of tables) {
    for (let at = 0; at < rows.length; at += 1) {
      const row = rows[at] ?? [];
      for (let column = 0; column < batchColumns[table].length; column += 1) values.push(plain(row[column] ?? null));
      if (table === "log") values.push(places[at] ?? null);
    }
  }
  return { ...known, values };
}

/** Its parameters are the node, the number of the batch, how many events there are if any, and the rows. */
function textOf({ tables, events }: BatchRows): string {
  const hasEvents = events > 0;
  let last = hasEvents ? 3 : 2;
  const all = ["fence AS MATERIALIZED (SELECT 1 WHERE pass_fence($1, $2))"];
  if (hasEvents)
    all.push("due AS (INSERT INTO due_batches (incarnation, events) SELECT $1, $3::bigint FROM fence RETURNING id)");
  for (const [table, rows] of tables) {
    const columns = [...batchColumns[table], ...(table === "log" ? [{ name: "place", type: "int" }] : [])];
    const names = columns.map(({ name }) => name).join(", ");
    const marks = rows.map(() => `(${columns.map(({ type }) => `$${(last += 1)}::${type}`).join(", ")})`);
    const source = { given: `(VALUES ${marks.join(", ")}) AS u(${names})`, columns: names, hasEvents };
    all.push(`${table}_part AS (${parts[table]?.(source) ?? ""})`);
    if (table === "tasks")
      all.push(
        `trees_part AS (INSERT INTO trees (root, owner) SELECT u.id, $1 FROM fence, ${source.given} WHERE u.parent IS NULL)`,
      );
  }
  return `WITH ${all.join(",\n  ")}\nSELECT 0 AS version FROM fence`;
}
