// Looks at a database beside its owner: a read-only connection that takes no lock.
import type { SQLInputValue, SQLOutputValue } from "node:sqlite";

import type { TaskStatus } from "../../protocol/task/task-status.ts";
import { TerminalStatus } from "../../protocol/task/task-status.ts";
import type { StoredEvent } from "../store.ts";
import type { Before, EventRecord, Page, ReadLimits, Rows, StoreView, TaskFilter, TaskListing } from "../view.ts";
import { type OpenedDatabase, openForReading } from "./database.ts";
import { eventRecordsOver, recordLength } from "./event-records.ts";
import { openWaitsOver } from "./open-waits.ts";
import { listedResult } from "./result-preview.ts";
import { found, pageOf } from "./page-rows.ts";
import * as row from "./rows.ts";
import { readsOver } from "./statements.ts";
import { subtree } from "./subtree-sql.ts";
import { requestsOver } from "./task-requests.ts";
import { threadReadsOver } from "./thread-reads.ts";
import { treeLimitsOver } from "./tree-limits.ts";
import { lastLine, stepKindList, totalsOver } from "./totals.ts";

/** Attempt and run in one number. */
export const placeUnit = 2 ** 32;

const listed = `tasks.id, tasks.parent, tasks.root, tasks.depth, tasks.kind, tasks.agent, tasks.detached, tasks.created_at,
  tasks.deadline, tasks.shared, IFNULL(results.status, open.status) AS status, results.at AS ended_at, ${listedResult},
  (SELECT attempt * ${placeUnit} + run FROM runs WHERE runs.task = tasks.id ORDER BY attempt DESC, run DESC LIMIT 1) AS place,
  ${lastLine} AS last`;

const places = "log JOIN runs ON runs.id = log.run JOIN tasks ON tasks.id = runs.task";

const anyTask = "tasks LEFT JOIN results ON results.task = tasks.id LEFT JOIN open ON open.task = tasks.id";

/** How tasks of a status are found without reading those of any other. */
const tasksOf: Readonly<Record<TaskStatus | "any" | "sessions", string>> = {
  sessions: `open CROSS JOIN tasks ON tasks.id = open.task LEFT JOIN results ON results.task = tasks.id
    WHERE results.task IS NULL AND tasks.kind <> 'invocation'`,
  any: `${anyTask} WHERE TRUE`,
  completed:
    "tasks CROSS JOIN results ON results.task = tasks.id LEFT JOIN open ON open.task = tasks.id WHERE results.status = 'completed'",
  failed: unusual("failed"),
  canceled: unusual("canceled"),
  pending: unfinishedWith("pending"),
  running: unfinishedWith("running"),
  input_required: unfinishedWith("input_required"),
};

function unusual(status: string): string {
  return `results INDEXED BY results_unusual CROSS JOIN tasks ON tasks.id = results.task
    LEFT JOIN open ON open.task = tasks.id WHERE results.status <> 'completed' AND results.status = '${status}'`;
}

function unfinishedWith(status: string): string {
  return `open CROSS JOIN tasks ON tasks.id = open.task LEFT JOIN results ON results.task = tasks.id
    WHERE open.status = '${status}'`;
}

export function openView(folder: string): StoreView {
  return viewOver(openForReading(folder));
}

/** Closing the view closes the database. */
export function viewOver({ database, path, salt, close }: OpenedDatabase): StoreView {
  const { all, each, one } = readsOver(database, path);
  const unfinished = one(
    "SELECT COUNT(*) AS value FROM tasks WHERE root = ? AND EXISTS (SELECT 1 FROM open WHERE open.task = tasks.id)",
    row.numberIn,
  );
  const totals = totalsOver(database, path);
  const recordOf = eventRecordsOver(database, path, salt);
  const inFull = (read: Record<string, SQLOutputValue>): TaskListing => {
    const head = row.taskHeadIn(read);
    const { steps, tokens, money } = totals(head.id, row.integer(read, "last"));
    const place = row.integerOrNull(read, "place") ?? 0;
    return {
      ...head,
      status: row.statusIn(read),
      attempt: Math.floor(place / placeUnit),
      run: place % placeUnit,
      ended_at: row.integerOrNull(read, "ended_at"),
      steps,
      tokens,
      money,
      result: row.textOrNull(read, "result"),
      preview: row.textOrNull(read, "preview"),
      result_bytes: row.integerOrNull(read, "result_bytes"),
    };
  };
  /** One statement for each combination of conditions, made when it is first asked for. */
  const lists = new Map<string, (...values: SQLInputValue[]) => Iterable<TaskListing>>();
  const list = (filter: TaskFilter): Rows<TaskListing> => {
    const { sql, values } = conditions(filter);
    let find = lists.get(sql);
    if (find === undefined) lists.set(sql, (find = each(sql, inFull)));
    return pageOf(find(...values, filter.limit + 1), filter, listingLength);
  };
  // Lines are first found by their ids and then read one by one: a sort would read the bodies of all that it sorts.
  const event = one(`SELECT ${row.eventColumns} FROM ${places} WHERE log.id = ? AND log.type IS NOT NULL`, row.eventIn);
  const linesOf = (condition: string): ((task: number, page: Page) => Rows<StoredEvent>) => {
    // The index holds run and id, so that of the lines before the page only entries of the index are read.
    const find = all(
      `SELECT log.id AS value FROM runs JOIN log INDEXED BY log_key ON log.run = runs.id
       WHERE runs.task = ? AND log.id > ? AND ${condition} ORDER BY log.id LIMIT ?`,
      row.idIn,
    );
    return (task, page) => pageOf(found(find(task, page.after, page.limit + 1), event), page, recordLength);
  };
  const linesOfTree = all(
    `${subtree} SELECT log.id AS value
     FROM below JOIN runs ON runs.task = below.id JOIN log INDEXED BY log_key ON log.run = runs.id
     WHERE log.id > ? ORDER BY log.id LIMIT ?`,
    row.idIn,
  );
  /** Some lines are no events, so it reads on until there are enough. */
  const eventsOfTree = function* (task: number, { after, limit }: Page): Generator<StoredEvent> {
    for (let at = after; ;) {
      const ids = linesOfTree(task, at, limit);
      yield* found(ids, event);
      at = ids.at(-1) ?? at;
      if (ids.length < limit) return;
    }
  };
  const recent = "FROM runs JOIN log INDEXED BY log_key ON log.run = runs.id WHERE runs.task = ? AND log.id < ?";
  const recentIds = all(`SELECT log.id AS value ${recent} ORDER BY log.id DESC LIMIT ?`, row.idIn);
  const recentIdsOfTypes = all(
    `SELECT log.id AS value ${recent} AND log.type IN (SELECT value FROM json_each(?)) ORDER BY log.id DESC LIMIT ?`,
    row.idIn,
  );
  /** Newest first, until somebody has enough: some lines are no events. */
  const eventsBefore = function* (task: number, { before, types, limit }: Before): Generator<StoredEvent> {
    for (let at = before ?? Number.MAX_SAFE_INTEGER; ;) {
      const ids =
        types === undefined ? recentIds(task, at, limit) : recentIdsOfTypes(task, at, JSON.stringify(types), limit);
      yield* found(ids, event);
      at = ids.at(-1) ?? at;
      if (ids.length < limit) return;
    }
  };
  const last = one("SELECT id AS value FROM log WHERE type IS NOT NULL ORDER BY id DESC LIMIT 1", row.numberIn);
  const setting = one("SELECT value FROM meta WHERE key = ?", row.textIn);
  const task = one(`SELECT ${listed} FROM ${anyTask} WHERE tasks.id = ?`, inFull);
  const taskRow = one("SELECT * FROM tasks WHERE id = ?", row.taskIn);
  const result = one("SELECT body AS value FROM results WHERE task = ?", row.textIn);
  const placed = "tasks.id, tasks.root, IFNULL(results.status, open.status) AS status";
  const place = one(`SELECT ${placed} FROM ${anyTask} WHERE tasks.id = ?`, row.placeIn);
  const inSubtree = "tasks.id IN (SELECT id FROM below)";
  const below = all(`${subtree} SELECT ${placed} FROM ${anyTask} WHERE ${inSubtree} ORDER BY tasks.id`, row.placeIn);
  const idsBelow = all(`${subtree} SELECT id AS value FROM below WHERE id > ? ORDER BY id LIMIT ?`, row.idIn);
  const wait = one("SELECT * FROM waits WHERE id = ?", row.waitIn);
  const eventsAfter = each(
    `SELECT ${row.eventColumns} FROM ${places} WHERE log.id > ? AND log.type IS NOT NULL ORDER BY log.id LIMIT ?`,
    row.eventIn,
  );
  const records = (events: Iterable<StoredEvent>, page: ReadLimits): Rows<EventRecord> =>
    pageOf(Iterator.from(events).map(recordOf), page, recordLength);
  const steps = linesOf(`log.kind IN (${stepKindList}) AND log.type IS NOT NULL`);
  const messages = linesOf("log.type = 'message.added'");
  return {
    salt,
    setting: async (name) => setting(row.settingKey(name)),
    ...requestsOver(database, path),
    unfinished: async (root) => unfinished(root) ?? 0,
    tasks: async (filter) => list(filter),
    place: async (id) => place(id),
    task: async (id) => task(id),
    taskRow: async (id) => taskRow(id),
    result: async (of) => result(of),
    below: async (id) => below(id),
    tree: async (id, page) => pageOf(found(idsBelow(id, page.after, page.limit + 1), task), page, listingLength),
    wait: async (id) => wait(id),
    ...treeLimitsOver(database, path),
    ...openWaitsOver(database, path),
    ...threadReadsOver(database, path),
    events: async (of, page) => records(eventsOfTree(of, { ...page, limit: page.limit + 1 }), page),
    eventsAfter: async (page) => records(eventsAfter(page.after, page.limit + 1), page),
    async recentEvents(of, page) {
      const { rows, more } = records(eventsBefore(of, { ...page, limit: page.limit + 1 }), page);
      return { rows: rows.toReversed(), more };
    },
    lastEvent: async () => last() ?? 0,
    steps: async (of, page) => steps(of, page),
    messages: async (of, page) => messages(of, page),
    close,
  };
}

/** About how long it is as JSON. */
export function listingLength({ kind, agent, result, preview }: TaskListing): number {
  return 400 + kind.length + agent.length + (result?.length ?? 0) + (preview?.length ?? 0);
}

function conditions(filter: TaskFilter): { readonly sql: string; readonly values: SQLInputValue[] } {
  const { after, status, agent, runner, parent, roots, sessions } = filter;
  const values: SQLInputValue[] = [];
  const when = (condition: string, value: SQLInputValue | undefined): string => {
    if (value === undefined) return "";
    values.push(value);
    return ` AND ${condition}`;
  };
  const isWalkedByTask = sessions !== true && (status === undefined || status === "completed");
  const order = isWalkedByTask ? "tasks.id" : orderOf(status);
  const sql = [
    `SELECT ${listed} FROM ${tasksOf[sessions === true ? "sessions" : (status ?? "any")]}`,
    when(`${order} < ?`, after),
    when("tasks.agent = ?", agent),
    when("tasks.kind = ?", runner),
    when("tasks.parent = ?", parent),
    roots === true ? " AND tasks.parent IS NULL" : "",
    ` ORDER BY ${order} DESC LIMIT ?`,
  ].join("");
  return { sql, values };
}

/** The id as the table has it that is walked through. */
function orderOf(status: TaskStatus | undefined): string {
  return TerminalStatus.safeParse(status).success ? "results.task" : "open.task";
}
