// The embedded store: queued writes in one commit per tick, prepared reads, names made from integer ids.
import type { ServiceRecords } from "../service-records.ts";
import { statusEvents } from "../../protocol/task/task-status.ts";
import { requestBeginning } from "../request-beginning.ts";
import type { Store } from "../store.ts";
import { resultBeginning } from "../result-beginning.ts";
import { openDatabase, type OpenedDatabase } from "./database.ts";
import { isLongResult } from "./result-preview.ts";
import * as row from "./rows.ts";
import { serviceRecordsOver } from "./sqlite-service-records.ts";
import { readsOver } from "./statements.ts";
import { isLongRequest } from "./task-requests.ts";
import { storageError } from "./storage-error.ts";
import { threadRecordsOver } from "./thread-records.ts";
import { Writer, type WriteQueue } from "./writer.ts";

/** Opens the folder's database for writing; the caller holds the lock. */
export function openStore(folder: string): Store & { readonly records: ServiceRecords } {
  const opened = openDatabase(folder);
  try {
    return storeOver(opened);
  } catch (thrown) {
    opened.close();
    throw storageError(opened.path, thrown);
  }
}

/** Over a database that is open already; whoever opened it may read it through the same connection. */
export function storeOver(opened: OpenedDatabase): Store & { readonly records: ServiceRecords } {
  const writer = new Writer(opened.database, opened.path);
  const close = (): void => {
    writer.flush();
    writer.giveUpStalled();
    opened.close();
  };
  return storeWith({ ...opened, close }, writer, countedIds(opened.database));
}

/** The ids of new rows. They are counted here, so that the id of a row is known before it is on disk. */
export interface RowIds {
  /** `root`: of the tree it belongs to; null for the root of a new tree. */
  task(root: number | null): number;
  run(task: number): number;
  line(run: number): number;
  wait(root: number): number;
  mail(task: number): number;
  thread(): number;
  /** The task was made through this store, so all its mail came through it too. */
  isMadeHere(task: number): boolean;
}

/** Reads come from the opened database; what is written goes to the queue, which brings it there when it is durable. */
export function storeWith(
  { database, path, salt, close, bringIn }: OpenedDatabase,
  writer: WriteQueue,
  ids: RowIds,
): Store & { readonly records: ServiceRecords } {
  // Reads of one tree; their first value is an id of it.
  const { all, one } = readsOver(database, path, bringIn && ((id) => bringIn(Number(id))));
  const ofAll = readsOver(database, path, bringIn && (() => bringIn()));
  const ofKeys = readsOver(database, path);
  const records = serviceRecordsOver({ database, path, salt, bringIn }, writer);

  // A task made since this store was opened has only the mail that came through it; most have none, and each looks every turn.
  const mailed = new Set<number>();
  const mailAfter = one("SELECT * FROM mail WHERE task = ? AND id > ? ORDER BY id LIMIT 1", row.mailIn);
  const ofTask = "log.run IN (SELECT id FROM runs WHERE task = ?)";
  const lastAtOf = one(`SELECT MAX(at) AS value FROM log WHERE ${ofTask}`, row.numberIn);
  const mailSent = one(row.mailSentSql, row.mailSentIn);
  const waitAt = one(
    `SELECT waits.* FROM runs JOIN waits ON waits.run = runs.id AND waits.key = ?3
     WHERE runs.task = ?1 AND runs.attempt = ?2 AND runs.run = COALESCE(?4, runs.run) ORDER BY waits.id DESC LIMIT 1`,
    row.waitIn,
  );
  const lastAtOfAll = ofAll.one("SELECT at AS value FROM log ORDER BY id DESC LIMIT 1", row.numberIn);

  return {
    ...threadRecordsOver(database, path, { writer, nextId: () => ids.thread() }),
    records,
    salt,
    get failure() {
      return writer.failure;
    },
    get stalled() {
      return writer.stalled;
    },
    giveUpStalled: () => writer.giveUpStalled(),
    get batch() {
      return writer.batch;
    },
    isDurable: (batch) => writer.isDurable(batch),
    committed: () => writer.committed(),
    onCommit: (listener) => writer.onCommit(listener),
    close,

    addTask(task) {
      const id = ids.task(task.root);
      const root = task.root ?? id;
      const { parent, depth, kind, agent, detached, created_at, deadline, shared, body } = task;
      writer.push("addTask", [
        id,
        parent,
        root,
        depth,
        kind,
        agent,
        Number(detached),
        created_at,
        deadline,
        shared,
        body,
      ]);
      if (isLongRequest(body)) writer.push("addRequest", [id, JSON.stringify(requestBeginning(body))]);
      writer.push("addOpen", [id]);
      return id;
    },
    setStatus: (task, status) => writer.push("setStatus", [status, task]),
    bindKey: (key, { task, content }) => writer.push("bindKey", [key, task, content]),
    addResult(result) {
      writer.push("addResult", [result.task, result.status, result.at, result.body]);
      if (isLongResult(result.body)) writer.push("addPreview", [result.task, resultBeginning(result.body)]);
      writer.push("dropOpen", [result.task]);
      // Nobody reads the mail of a task that is over.
      mailed.delete(result.task);
    },
    addRun(run) {
      const id = ids.run(run.task);
      writer.push("addRun", [id, run.task, run.attempt, run.run, run.body]);
      return id;
    },
    addLog(line) {
      const id = ids.line(line.run);
      const kind = row.stepKinds.indexOf(line.kind);
      const { run, key, at, type, input, tokens, money, body, state, mail } = line;
      if (mail === null) writer.push("addLog", [id, run, key, at, kind, type, input, tokens, money, body, state]);
      else writer.push("addMailLog", [id, run, key, at, kind, type, input, tokens, money, body, state, mail]);
      return id;
    },
    addStepStart: (start) => writer.push("addStepStart", [start.run, start.key, start.input, start.note]),
    noteStepStart: (run, key, note) => writer.push("noteStepStart", [note, run, key]),
    addTimer: (run, key, due) => writer.push("addTimer", [run, key, due]),
    addWait(wait) {
      const id = ids.wait(wait.root);
      const { task, root, run, key, raised_at, due, ask, body } = wait;
      writer.push("addWait", [id, task, root, run, key, raised_at, due, ask, body]);
      return id;
    },
    addAnswer(answer) {
      writer.push("addAnswer", [answer.wait, answer.kind, answer.at, answer.body]);
      writer.push("setSettled", [1, answer.wait]);
    },
    dropAnswer(wait) {
      writer.push("dropAnswer", [wait]);
      writer.push("setSettled", [0, wait]);
    },
    addMail(task, body) {
      const id = ids.mail(task);
      mailed.add(task);
      writer.push("addMail", [id, task, body]);
      return id;
    },
    addEvent({ run, at, type, body }) {
      const id = ids.line(run);
      writer.push("addEvent", [id, run, `!${id.toString(36)}`, at, type, body]);
    },

    setResumes(task, count) {
      if (count === 0) writer.push("dropResumes", [task]);
      else writer.push("setResumes", [task, count]);
    },
    resumesOf: all(
      "SELECT resumes.task, resumes.count FROM resumes JOIN tasks ON tasks.id = resumes.task WHERE tasks.root = ?",
      row.resumeCountIn,
    ),

    putSetting: (name, value) => records.putSetting(name, value),
    setting: (name) => records.setting(name),

    task: one("SELECT * FROM tasks WHERE id = ?", row.taskIn),
    unfinishedTrees: unfinishedTrees(ofAll.all),
    openTasks: all(
      `WITH RECURSIVE upward (id) AS (
         SELECT open.task FROM tasks JOIN open ON open.task = tasks.id WHERE tasks.root = ?
         UNION SELECT parent FROM tasks JOIN upward USING (id) WHERE parent IS NOT NULL)
       SELECT tasks.* FROM tasks JOIN upward USING (id) ORDER BY id`,
      row.taskIn,
    ),
    tree: all("SELECT * FROM tasks WHERE root = ? ORDER BY id", row.taskIn),
    boundKey: ofKeys.one("SELECT task, content FROM keys WHERE key = ?", row.keyBindingIn),
    result: one("SELECT * FROM results WHERE task = ?", row.resultIn),
    lastRun: one("SELECT * FROM runs WHERE task = ? ORDER BY attempt DESC, run DESC LIMIT 1", row.runIn),
    logAt: one("SELECT * FROM log WHERE run = ? AND key = ?", row.logIn),
    logById: one("SELECT * FROM log WHERE id = ?", row.logIn),
    lastState: one("SELECT * FROM log WHERE run = ? AND state IS NOT NULL ORDER BY id DESC LIMIT 1", row.logIn),
    stepStart: one("SELECT * FROM step_starts WHERE run = ? AND key = ?", row.stepStartIn),
    timer: one("SELECT due AS value FROM timers WHERE run = ? AND key = ?", row.numberIn),
    openNotes: all(
      `SELECT step_starts.note AS value FROM tasks JOIN runs ON runs.task = tasks.id
       JOIN step_starts ON step_starts.run = runs.id LEFT JOIN log ON log.run = step_starts.run AND log.key = step_starts.key
       WHERE tasks.root = ? AND step_starts.note IS NOT NULL AND log.id IS NULL`,
      row.textIn,
    ),
    wait: one("SELECT * FROM waits WHERE run = ? AND key = ?", row.waitIn),
    waitById: one("SELECT * FROM waits WHERE id = ?", row.waitIn),
    waitAt: (task, attempt, key, run) => waitAt(task, attempt, key, run ?? null),
    openWaits: ofAll.all(openWaits("waits.*"), row.waitIn),
    openWaitIds: ofAll.all(openWaits("waits.id AS value"), row.idIn),
    waitsOf: all("SELECT * FROM waits WHERE root = ? ORDER BY id", row.waitIn),
    answer: one("SELECT * FROM answers WHERE wait = ?", row.answerIn),
    nextMail: (task, after) => (!mailed.has(task) && ids.isMadeHere(task) ? undefined : mailAfter(task, after)),
    mailSent: (task, attempt, kind) => mailSent(task, attempt, kind) ?? { count: 0, bytes: 0 },
    lastMailTaken: one(`SELECT MAX(mail) AS value FROM log WHERE ${ofTask}`, row.numberIn),
    lifeEvents: all(
      `SELECT type AS value FROM log WHERE ${ofTask} AND type IN (${lifeTypes}) ORDER BY id`,
      row.eventTypeIn,
    ),
    messages: all(
      `SELECT ${row.saidColumns} FROM log JOIN runs ON runs.id = log.run WHERE runs.task = ? AND runs.attempt = ?
       AND log.type = 'message.added' ORDER BY log.id`,
      row.saidIn,
    ),
    lastMessage: one(
      `SELECT ${row.saidColumns} FROM log JOIN runs ON runs.id = log.run
       WHERE runs.task = ? AND log.type = 'message.added' ORDER BY log.id DESC LIMIT 1`,
      row.saidIn,
    ),
    startedAt: one(`SELECT MIN(at) AS value FROM log WHERE ${ofTask} AND type = 'task.started'`, row.numberIn),
    lastEventAt: (task) => (task === null ? lastAtOfAll() : lastAtOf(task)),
    spentOf: all(
      `SELECT runs.task AS task, SUM(log.tokens) AS tokens, SUM(log.money) AS money
       FROM tasks JOIN runs ON runs.task = tasks.id JOIN log ON log.run = runs.id
       WHERE tasks.root = ? GROUP BY runs.task HAVING SUM(log.tokens) > 0 OR SUM(log.money) > 0`,
      row.spentIn,
    ),
    eventsAfter: ofAll.all(
      `SELECT ${row.eventColumns} FROM log JOIN runs ON runs.id = log.run JOIN tasks ON tasks.id = runs.task
       WHERE log.id > ? AND log.type IS NOT NULL ORDER BY log.id LIMIT ?`,
      row.eventIn,
    ),
    eventsOf: all(
      `SELECT ${row.eventColumns} FROM log JOIN runs ON runs.id = log.run JOIN tasks ON tasks.id = runs.task
       WHERE runs.task = ? AND log.id > ? AND log.type IS NOT NULL ORDER BY log.id LIMIT ?`,
      row.eventIn,
    ),
  };
}

const lifeTypes = statusEvents.map((type) => `'${type}'`).join(", ");

/** In order of their ids, those with work first: the notes of trees that are over can be seen to when there is time. */
function unfinishedTrees(all: ReturnType<typeof readsOver>["all"]): () => number[] {
  const withWork = all(
    "SELECT DISTINCT tasks.root AS value FROM open JOIN tasks ON tasks.id = open.task ORDER BY tasks.root",
    row.numberIn,
  );
  const withNotes = all(
    `SELECT DISTINCT tasks.root AS value FROM step_starts
     LEFT JOIN log ON log.run = step_starts.run AND log.key = step_starts.key
     JOIN runs ON runs.id = step_starts.run JOIN tasks ON tasks.id = runs.task
     WHERE step_starts.note IS NOT NULL AND log.id IS NULL`,
    row.numberIn,
  );
  return () => [...new Set([...withWork(), ...withNotes()])].filter((root) => root !== undefined);
}

type Counter = "tasks" | "runs" | "log" | "waits" | "mail" | "threads";

function countedIds(database: OpenedDatabase["database"]): RowIds {
  const next = countersOf(database);
  const tasksBefore = next.tasks;
  return {
    task: () => (next.tasks += 1),
    run: () => (next.runs += 1),
    line: () => (next.log += 1),
    wait: () => (next.waits += 1),
    mail: () => (next.mail += 1),
    thread: () => (next.threads += 1),
    isMadeHere: (task) => task > tasksBefore,
  };
}

/** Pruning never lets an id be used again. */
function countersOf(database: OpenedDatabase["database"]): Record<Counter, number> {
  const last = (table: Counter): number => {
    const used = database.prepare(`SELECT MAX(id) AS value FROM ${table}`).get();
    const kept = database.prepare("SELECT last AS value FROM counters WHERE name = ?").get(table);
    return Math.max(row.numberIn(used ?? {}) ?? 0, row.numberIn(kept ?? {}) ?? 0);
  };
  return {
    tasks: last("tasks"),
    runs: last("runs"),
    log: last("log"),
    waits: last("waits"),
    mail: last("mail"),
    threads: last("threads"),
  };
}

/** In the order they were opened. */
function openWaits(columns: string): string {
  return `SELECT ${columns} FROM waits INDEXED BY waits_listed JOIN open ON open.task = waits.task
    WHERE waits.settled = 0 ORDER BY waits.id`;
}
