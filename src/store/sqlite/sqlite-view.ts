// Looks at a database beside its owner: a read-only connection that takes no lock.
import type { SQLInputValue, SQLOutputValue } from "node:sqlite";

import type { TaskStatus } from "../../protocol/task/task-status.ts";
import { TerminalStatus } from "../../protocol/task/task-status.ts";
import type { StoredEvent } from "../store.ts";
import type { EventRecord, Page, StoreView, TaskFilter, TaskListing } from "../view.ts";
import { openForReading } from "./database.ts";
import { eventRecordsOver } from "./event-records.ts";
import * as row from "./rows.ts";
import { readsOver } from "./statements.ts";
import { lastLine, stepKindList, totalsOver } from "./totals.ts";

/** Attempt and run in one number. */
const placeUnit = 2 ** 32;

const listed = `tasks.id, tasks.parent, tasks.root, tasks.depth, tasks.kind, tasks.agent, tasks.detached, tasks.created_at,
  tasks.deadline, tasks.shared, IFNULL(results.status, open.status) AS status, results.at AS ended_at, results.body AS result,
  (SELECT attempt * ${placeUnit} + run FROM runs WHERE runs.task = tasks.id ORDER BY attempt DESC, run DESC LIMIT 1) AS place,
  ${lastLine} AS last`;

const subtree = `WITH RECURSIVE below (id) AS (SELECT ? UNION ALL SELECT tasks.id FROM tasks JOIN below ON tasks.parent = below.id)`;

const places = "log JOIN runs ON runs.id = log.run JOIN tasks ON tasks.id = runs.task";

const anyTask = "tasks LEFT JOIN results ON results.task = tasks.id LEFT JOIN open ON open.task = tasks.id";

/** How tasks of a status are found without reading those of any other. */
const tasksOf: Readonly<Record<TaskStatus | "any", string>> = {
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
  const { database, path, salt, close } = openForReading(folder);
  const { all, one } = readsOver(database, path);
  const unfinished = one(
    "SELECT COUNT(*) AS value FROM tasks WHERE root = ? AND EXISTS (SELECT 1 FROM open WHERE open.task = tasks.id)",
    row.numberIn,
  );
  const totals = totalsOver(database, path);
  const recordOf = eventRecordsOver(database, path, salt);
  const inFull = (found: Record<string, SQLOutputValue>): TaskListing => {
    const head = row.taskHeadIn(found);
    const result = row.textOrNull(found, "result");
    const { steps, tokens, money } = totals(head.id, row.integer(found, "last"));
    const place = row.integerOrNull(found, "place") ?? 0;
    return {
      ...head,
      status: row.statusIn(found),
      attempt: Math.floor(place / placeUnit),
      run: place % placeUnit,
      ended_at: row.integerOrNull(found, "ended_at"),
      steps,
      tokens,
      money,
      result,
    };
  };
  /** One statement for each combination of conditions, made when it is first asked for. */
  const lists = new Map<string, (...values: SQLInputValue[]) => TaskListing[]>();
  const list = (filter: TaskFilter): TaskListing[] => {
    const { sql, values } = conditions(filter);
    let find = lists.get(sql);
    if (find === undefined) lists.set(sql, (find = all(sql, inFull)));
    return find(...values, filter.limit);
  };
  const linesOf = (condition: string): ((task: number, page: Page) => StoredEvent[]) => {
    // The index holds run and id, so that of the lines before the page only entries of the index are read.
    const find = all(
      `SELECT ${row.eventColumns} FROM runs JOIN tasks ON tasks.id = runs.task JOIN log INDEXED BY log_key ON log.run = runs.id
       WHERE runs.task = ? AND log.id > ? AND ${condition} ORDER BY log.id LIMIT ?`,
      row.eventIn,
    );
    return (task, { after, limit }) => find(task, after, limit);
  };
  const lineOfTree = all(
    `${subtree}, picked (id) AS (
       SELECT log.id FROM below JOIN runs ON runs.task = below.id JOIN log INDEXED BY log_key ON log.run = runs.id
       WHERE log.id > ? ORDER BY log.id LIMIT ?)
     SELECT ${row.eventColumns} FROM picked CROSS JOIN ${places.replace("log JOIN", "log ON log.id = picked.id JOIN")}
     ORDER BY log.id`,
    row.lineIn,
  );
  const ofTree = (task: number, after: number, limit: number): EventRecord[] => {
    const events: EventRecord[] = [];
    for (let at = after; events.length < limit;) {
      const lines = lineOfTree(task, at, limit);
      for (const line of lines)
        if (line.event !== undefined && events.length < limit) events.push(recordOf(line.event));
      if (lines.length < limit) break;
      at = lines.at(-1)?.seq ?? at;
    }
    return events;
  };
  const last = one("SELECT id AS value FROM log WHERE type IS NOT NULL ORDER BY id DESC LIMIT 1", row.numberIn);
  const task = one(`SELECT ${listed} FROM ${anyTask} WHERE tasks.id = ?`, inFull);
  const taskRow = one("SELECT * FROM tasks WHERE id = ?", row.taskIn);
  const below = all(
    `${subtree} SELECT ${listed} FROM ${anyTask} WHERE tasks.id IN (SELECT id FROM below) ORDER BY tasks.id`,
    inFull,
  );
  const wait = one("SELECT * FROM waits WHERE id = ?", row.waitIn);
  const openWaits = all(row.openWaitsSql, row.waitIn);
  const eventsAfter = all(
    `SELECT ${row.eventColumns} FROM ${places} WHERE log.id > ? AND log.type IS NOT NULL ORDER BY log.id LIMIT ?`,
    (found) => recordOf(row.eventIn(found)),
  );
  const steps = linesOf(`log.kind IN (${stepKindList}) AND log.type IS NOT NULL`);
  const messages = linesOf("log.type = 'message.added'");
  return {
    salt,
    unfinished: async (root) => unfinished(root) ?? 0,
    tasks: async (filter) => list(filter),
    task: async (id) => task(id),
    taskRow: async (id) => taskRow(id),
    below: async (id) => below(id),
    wait: async (id) => wait(id),
    openWaits: async () => openWaits(),
    events: async (of, after, limit) => ofTree(of, after, limit),
    eventsAfter: async (after, limit) => eventsAfter(after, limit),
    lastEvent: async () => last() ?? 0,
    steps: async (of, page) => steps(of, page),
    messages: async (of, page) => messages(of, page),
    close,
  };
}

function conditions(filter: TaskFilter): { readonly sql: string; readonly values: SQLInputValue[] } {
  const { after, status, agent, runner, parent, roots } = filter;
  const values: SQLInputValue[] = [];
  const when = (condition: string, value: SQLInputValue | undefined): string => {
    if (value === undefined) return "";
    values.push(value);
    return ` AND ${condition}`;
  };
  const order = status === undefined || status === "completed" ? "tasks.id" : orderOf(status);
  const sql = [
    `SELECT ${listed} FROM ${tasksOf[status ?? "any"]}`,
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
function orderOf(status: TaskStatus): string {
  return TerminalStatus.safeParse(status).success ? "results.task" : "open.task";
}
