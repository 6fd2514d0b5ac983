// The tables that move between a state folder and a shared database: what is read of each in either one, with its new ids.

import { batchColumns, type BatchTable, type Column } from "../postgres/batch-columns.ts";
import type { NamedKind } from "../kept-names.ts";

export interface MovedTable {
  readonly name: string;
  readonly columns: readonly Column[];
  /** The same in SQLite and in PostgreSQL: gives the columns, and `old`, the id that the row had, where names or keys need it. */
  readonly select: string;
  /** Its rows have names of this kind. */
  readonly named?: NamedKind;
}

const columnsOf = (text: string): Column[] =>
  text.split(" ").map((each) => {
    const [name = "", type = "text"] = each.split(":");
    return { name, type: type === "bigint" || type === "int" ? type : "text" };
  });

const added = (name: BatchTable, select: string, named?: NamedKind): MovedTable => ({
  name,
  columns: batchColumns[name],
  select,
  ...(named === undefined ? {} : { named }),
});
const table = (name: string, columns: string, select: string, named?: NamedKind): MovedTable => ({
  name,
  columns: columnsOf(columns),
  select,
  ...(named === undefined ? {} : { named }),
});

const task = "JOIN placed_tasks placed ON placed.old = of.task";
const run = "JOIN placed_runs placed ON placed.old = of.run";

/** Without the log, whose rows need a place in the sequence, too. */
export const treeRows: readonly MovedTable[] = [
  added(
    "tasks",
    `SELECT placed.now AS id, above.now AS parent, top.now AS root, of.depth, of.kind, of.agent, of.detached,
       of.created_at, of.deadline, line.now AS shared, of.body, of.id AS old
     FROM tasks of JOIN placed_tasks placed ON placed.old = of.id JOIN placed_tasks top ON top.old = of.root
     LEFT JOIN placed_tasks above ON above.old = of.parent LEFT JOIN placed_log line ON line.old = of.shared ORDER BY of.id`,
    "tsk",
  ),
  table("open", "task:bigint status", `SELECT placed.now AS task, of.status FROM open of ${task}`),
  added("results", `SELECT placed.now AS task, of.status, of.at, of.body FROM results of ${task}`),
  added("result_previews", `SELECT placed.now AS task, of.text FROM result_previews of ${task}`),
  added("request_previews", `SELECT placed.now AS task, of.text FROM request_previews of ${task}`),
  added(
    "runs",
    `SELECT placed.now AS id, of_task.now AS task, of.attempt, of.run, of.body FROM runs of
     JOIN placed_runs placed ON placed.old = of.id JOIN placed_tasks of_task ON of_task.old = of.task`,
  ),
  added("step_starts", `SELECT placed.now AS run, of.key, of.input, of.note FROM step_starts of ${run}`),
  added("timers", `SELECT placed.now AS run, of.key, of.due FROM timers of ${run}`),
  table(
    "waits",
    "id:bigint task:bigint root:bigint run:bigint key raised_at:bigint due:bigint ask body settled:int",
    `SELECT placed.now AS id, of_task.now AS task, top.now AS root, of_run.now AS run, of.key, of.raised_at, of.due, of.ask,
       of.body, of.settled, of.id AS old
     FROM waits of JOIN placed_waits placed ON placed.old = of.id JOIN placed_tasks of_task ON of_task.old = of.task
     JOIN placed_tasks top ON top.old = of.root JOIN placed_runs of_run ON of_run.old = of.run ORDER BY of.id`,
    "ask",
  ),
  added(
    "answers",
    `SELECT placed.now AS wait, of.kind, of.at, of.body FROM answers of JOIN placed_waits placed ON placed.old = of.wait`,
  ),
  added(
    "mail",
    `SELECT placed.now AS id, of_task.now AS task, of.body FROM mail of
     JOIN placed_mail placed ON placed.old = of.id JOIN placed_tasks of_task ON of_task.old = of.task`,
  ),
  added("resumes", `SELECT placed.now AS task, of.count FROM resumes of ${task}`),
  // The key of a tree that was pruned stays bound to a task that does not exist.
  table(
    "keys",
    "key task:bigint content pruned_at:bigint",
    `SELECT of.key, COALESCE(placed.now, -ABS(of.task)) AS task, of.content, of.pruned_at FROM keys of
     LEFT JOIN placed_tasks placed ON placed.old = of.task WHERE of.task IS NOT NULL`,
  ),
];

export const logRows: MovedTable = {
  name: "log",
  columns: batchColumns.log,
  select: `SELECT placed.now AS id, of_run.now AS run, of.key, of.at, of.kind, of.type, of.input, of.tokens, of.money,
      of.body, of.state, letter.now AS mail, of.id AS old
    FROM log of JOIN placed_log placed ON placed.old = of.id JOIN placed_runs of_run ON of_run.old = of.run
    LEFT JOIN placed_mail letter ON letter.old = of.mail ORDER BY of.id`,
};

/** What the service keeps. `until`: an expression for the new sequence of `of.until`, which is above 0. */
export const serviceRows = (until: string): readonly MovedTable[] => [
  table(
    "api_keys",
    "id name role digest created_at:bigint revoked_at:bigint",
    "SELECT id, name, role, digest, created_at, revoked_at FROM api_keys",
  ),
  table(
    "operators",
    "sid digest roles created_at:bigint seen_at:bigint api_key",
    "SELECT sid, digest, roles, created_at, seen_at, api_key FROM operators",
  ),
  table("operator_roles", "role sid", "SELECT role, sid FROM operator_roles"),
  table(
    "tickets",
    "digest sid expires_at:bigint claim api_key",
    "SELECT digest, sid, expires_at, claim, api_key FROM tickets",
  ),
  table(
    "page_tokens",
    "digest api_key created_at:bigint expires_at:bigint",
    "SELECT digest, api_key, created_at, expires_at FROM page_tokens",
  ),
  table(
    "sent",
    "wait:bigint sid at:bigint",
    "SELECT placed.now AS wait, of.sid, of.at FROM sent of JOIN placed_waits placed ON placed.old = of.wait",
  ),
  table("handles", "digest claims expires_at:bigint", "SELECT digest, claims, expires_at FROM handles"),
  table(
    "leases",
    "task:bigint attempt:int due:bigint fetched_at:bigint posted_at:bigint void_until:bigint api_key revoked_at:bigint",
    `SELECT placed.now AS task, of.attempt, of.due, of.fetched_at, of.posted_at, of.void_until, of.api_key, of.revoked_at
     FROM leases of ${task}`,
  ),
  table(
    "threads",
    "id:bigint name project kind created_at:bigint said_at:bigint forked_from:bigint",
    `SELECT placed.now AS id, of.name, of.project, of.kind, of.created_at, of.said_at, source.now AS forked_from, of.id AS old
     FROM threads of JOIN placed_threads placed ON placed.old = of.id
     LEFT JOIN placed_threads source ON source.old = of.forked_from ORDER BY of.id`,
    "thr",
  ),
  table(
    "thread_entries",
    "thread:bigint position:bigint task:bigint until:bigint",
    `SELECT thread.now AS thread, of.position, placed.now AS task,
       CASE WHEN of.until > 0 THEN ${until} ELSE of.until END AS until
     FROM thread_entries of JOIN placed_threads thread ON thread.old = of.thread ${task}`,
  ),
  table(
    "notices",
    "id target body tries:int due:bigint created_at:bigint",
    "SELECT id, target, body, tries, due, created_at FROM notices",
  ),
];

/** Settings of one machine alone: its port, its file with the admin key, who waits there for its work. */
const machineSettings = /^setting_(?:port|admin_key|others_wait)(?: of .*)?$/;
export const isOfMachine = (key: string): boolean => machineSettings.test(key);

/** The key of a line that is only an event is made of its id, which is another one now. */
export function movedKeyOf(key: string, old: number, now: number): string {
  return key === `!${old.toString(36)}` ? `!${now.toString(36)}` : key;
}

/** The event up to which notices were sent. */
export const noticePosition = "setting_notified";
