// Looks at the database from any node: what is committed, whoever owns the tree, and events in the order of the one sequence.

import { isTerminal, type TaskStatus } from "../../protocol/task/task-status.ts";
import { pageOf } from "../sqlite/page-rows.ts";
import { listedResult } from "../sqlite/result-preview.ts";
import * as row from "../sqlite/rows.ts";
import { listingLength, placeUnit } from "../sqlite/sqlite-view.ts";
import { stepKindList } from "../sqlite/totals.ts";
import type { StoredEvent } from "../store.ts";
import type { EventRecord, Page, Rows, StoreView, TaskFilter, TaskListing } from "../view.ts";
import { type DatabaseAddress, readsFrom, type Row } from "./database-connection.ts";
import { eventReads, placed, recordPage } from "./event-records.ts";
import { openWaitsOver } from "./open-waits.ts";
import { stampAll } from "./sequence.ts";
import { storageError } from "./storage-error.ts";
import { subtree } from "./subtree-sql.ts";
import { requestsOver } from "./task-requests.ts";
import { threadReadsOver } from "./thread-reads.ts";
import { totalsOver } from "./totals.ts";
import { treeLimitsOver } from "./tree-limits.ts";
import { treeUnit } from "./tree-ids.ts";
import type { Salt } from "../names.ts";

const anyTask = "tasks LEFT JOIN results ON results.task = tasks.id LEFT JOIN open ON open.task = tasks.id";
const status = "COALESCE(results.status, open.status)";
const listed = `tasks.id, tasks.parent, tasks.root, tasks.depth, tasks.kind, tasks.agent, tasks.detached, tasks.created_at,
  tasks.deadline, tasks.shared, ${status} AS status, results.at AS ended_at, ${listedResult},
  (SELECT attempt * ${placeUnit} + run FROM runs WHERE runs.task = tasks.id ORDER BY attempt DESC, run DESC LIMIT 1) AS place`;
/** Events of the runs of one task. */
const ofTask = `${placed} JOIN runs own ON own.id = l.run AND own.task = $1`;

/** `salt`: of the names that the store gives. */
export function openPostgresView(address: DatabaseAddress, salt: Salt): StoreView {
  const pool = readsFrom(address);
  const reads = {
    ...pool,
    rows: (sql: string, values?: readonly unknown[]): Promise<Row[]> =>
      pool.rows(sql, values).catch((thrown: unknown) => Promise.reject(storageError(thrown))),
  };
  const totals = totalsOver(reads, stepKindList);
  const events = eventReads(reads, salt);
  const one = async <T>(sql: string, id: number, read: row.RowReader<T>): Promise<T | undefined> => {
    const [found] = await reads.rows(sql, [id]);
    return found === undefined ? undefined : read(found);
  };
  const inFull = async (found: readonly Row[]): Promise<TaskListing[]> => {
    const used = await totals(found.map((each) => row.integer(each, "id")));
    return found.map((each) => {
      const head = row.taskHeadIn(each);
      const { steps, tokens, money } = used.get(head.id) ?? { steps: 0, tokens: 0, money: 0 };
      const place = row.integerOrNull(each, "place") ?? 0;
      return {
        ...head,
        status: row.statusIn(each),
        attempt: Math.floor(place / placeUnit),
        run: place % placeUnit,
        ended_at: row.integerOrNull(each, "ended_at"),
        steps,
        tokens,
        money,
        result: row.textOrNull(each, "result"),
        preview: row.textOrNull(each, "preview"),
        result_bytes: row.integerOrNull(each, "result_bytes"),
      };
    });
  };
  const records = async (from: string, values: readonly unknown[], page: Page): Promise<Rows<EventRecord>> => {
    const found = await events.page(from, values, page);
    return recordPage(await events.withRows(found.rows), page, found.more);
  };
  /** Within a tree, lines are committed and placed in the order of their ids. */
  const linesOf =
    (condition: string) =>
    (task: number, page: Page): Promise<Rows<StoredEvent>> =>
      events.page(
        `${ofTask} WHERE b.base + l.place > $2 AND ${condition} ORDER BY l.id LIMIT $3`,
        [task, page.after, page.limit + 1],
        page,
      );
  return {
    salt,
    async setting(name) {
      const [found] = await reads.rows("SELECT value FROM meta WHERE key = $1", [row.settingKey(name)]);
      return found === undefined ? undefined : row.textIn(found);
    },
    ...requestsOver(reads),
    ...threadReadsOver(reads),
    async unfinished(root) {
      const sql = "SELECT count(*) AS value FROM tasks JOIN open ON open.task = tasks.id WHERE tasks.root = $1";
      return (await one(sql, root, row.numberIn)) ?? 0;
    },
    async tasks(filter) {
      const { sql, values } = listSql(filter);
      const found = await reads.rows(sql, values);
      return pageOf(await inFull(found), filter, listingLength);
    },
    place: (id) =>
      one(`SELECT tasks.id, tasks.root, ${status} AS status FROM ${anyTask} WHERE tasks.id = $1`, id, row.placeIn),
    async task(id) {
      const found = await inFull(await reads.rows(`SELECT ${listed} FROM ${anyTask} WHERE tasks.id = $1`, [id]));
      return found[0];
    },
    taskRow: (id) => one("SELECT * FROM tasks WHERE id = $1", id, row.taskIn),
    result: (task) => one("SELECT body AS value FROM results WHERE task = $1", task, row.textIn),
    async below(id) {
      const sql = `${subtree(1)} SELECT tasks.id, tasks.root, ${status} AS status FROM ${anyTask}
        WHERE tasks.id IN (SELECT id FROM below) ORDER BY tasks.id`;
      const rows = (await reads.rows(sql, [id])).map(row.placeIn);
      // Whoever follows tasks that are over reads their events and then stops, so all of these must have their places.
      if (rows.every((each) => isTerminal(each.status))) await stampAll(reads);
      return rows;
    },
    async tree(id, page) {
      const sql = `${subtree(1)} SELECT ${listed} FROM ${anyTask}
        WHERE tasks.id IN (SELECT id FROM below) AND tasks.id > $2 ORDER BY tasks.id LIMIT $3`;
      const found = await reads.rows(sql, [id, page.after, page.limit + 1]);
      return pageOf(await inFull(found), page, listingLength);
    },
    wait: (id) => one("SELECT * FROM waits WHERE id = $1", id, row.waitIn),
    ...treeLimitsOver(reads),
    ...openWaitsOver(reads),
    async events(task, page) {
      const isRoot = task % treeUnit === 1;
      const from = isRoot
        ? `${placed} WHERE l.id >= $1::bigint - 1 AND l.id < $1::bigint - 1 + ${treeUnit}`
        : `${placed} WHERE l.run IN (${subtree(1)} SELECT runs.id FROM below JOIN runs ON runs.task = below.id)`;
      const sql = `${from} AND b.base + l.place > $2 ORDER BY l.id LIMIT $3`;
      return records(sql, [task, page.after, page.limit + 1], page);
    },
    async eventsAfter(page) {
      // The batch that the sequence is in, and those after it.
      const from = `(SELECT id, base FROM batches
          WHERE base >= COALESCE((SELECT max(base) FROM batches WHERE base <= $1::bigint + 1), 0) ORDER BY base LIMIT $2 + 1) AS b
        JOIN log l ON l.batch = b.id WHERE b.base + l.place > $1 ORDER BY b.base, l.place LIMIT $2`;
      return records(from, [page.after, page.limit + 1], page);
    },
    async recentEvents(task, { before = Number.MAX_SAFE_INTEGER, types, ...limits }) {
      const ofTypes = types === undefined ? "" : "AND l.type = ANY($4)";
      const sql = `${ofTask} WHERE b.base + l.place < $2 ${ofTypes} ORDER BY l.id DESC LIMIT $3`;
      const values = [task, before, limits.limit + 1, ...(types === undefined ? [] : [types])];
      const found = await events.page(sql, values, limits);
      const { rows, more } = recordPage(await events.withRows(found.rows), limits, found.more);
      return { rows: rows.toReversed(), more };
    },
    /** What was committed before counts, also if nobody has given it its place yet. */
    async lastEvent() {
      await stampAll(reads);
      const [found] = await reads.rows("SELECT next - 1 AS value FROM counter");
      return row.numberIn(found ?? {}) ?? 0;
    },
    steps: linesOf(`l.kind IN (${stepKindList})`),
    messages: linesOf("l.type = 'message.added'"),
    close: () => void pool.end(),
  };
}

const openOnly = "tasks JOIN open ON open.task = tasks.id LEFT JOIN results ON results.task = tasks.id";
const overOnly = "tasks JOIN results ON results.task = tasks.id LEFT JOIN open ON open.task = tasks.id";
const tables: Readonly<Record<TaskStatus, string>> = {
  pending: openOnly,
  running: openOnly,
  input_required: openOnly,
  completed: overOnly,
  failed: overOnly,
  canceled: overOnly,
};

/** Ids of different nodes say nothing about time, so the newest are found by when they were made. */
function listSql(filter: TaskFilter): { readonly sql: string; readonly values: unknown[] } {
  const { after, status: wanted, agent, runner, parent, roots, sessions, limit } = filter;
  const values: unknown[] = [];
  const when = (condition: (mark: string) => string, value: unknown): string => {
    if (value === undefined) return "";
    values.push(value);
    return ` AND ${condition(`$${values.length}`)}`;
  };
  const from = sessions === true ? openOnly : wanted === undefined ? anyTask : tables[wanted];
  const sql = [
    `SELECT ${listed} FROM ${from} WHERE true`,
    sessions === true ? " AND tasks.kind <> 'invocation'" : when((mark) => `${status} = ${mark}`, wanted),
    when((mark) => `(tasks.created_at, tasks.id) < (SELECT created_at, id FROM tasks WHERE id = ${mark})`, after),
    when((mark) => `tasks.agent = ${mark}`, agent),
    when((mark) => `tasks.kind = ${mark}`, runner),
    when((mark) => `tasks.parent = ${mark}`, parent),
    roots === true ? " AND tasks.parent IS NULL" : "",
  ].join("");
  values.push(limit + 1);
  return { sql: `${sql} ORDER BY tasks.created_at DESC, tasks.id DESC LIMIT $${values.length}`, values };
}
