// Compares the event log after the last cut with what was acknowledged and with the effects that took place.

import { isDeepStrictEqual } from "node:util";

import { EventPage } from "../../../src/protocol/api/task-shapes.ts";
import type { TaskEvent } from "../../../src/protocol/task/event.ts";
import { ask, connectTo, type DatabaseAddress } from "../../../src/store/postgres/database-connection.ts";
import { treeUnit } from "../../../src/store/postgres/tree-ids.ts";
import { openForReading } from "../../../src/store/sqlite/database.ts";
import type { Fault, Ledger } from "./cuts-ledger.ts";
import { changedMind } from "./cuts-operator.ts";
import { refusal, refusedAgent } from "./cuts-invocations.ts";
import { isParking } from "./cuts-people.ts";
import type { CutsRun } from "./cuts-run.ts";

type EventOf<T extends TaskEvent["type"]> = Extract<TaskEvent, { type: T }>;

/** Every event there is, page by page. */
export async function wholeLog(run: CutsRun): Promise<TaskEvent[]> {
  const events: TaskEvent[] = [];
  for (let after = 0; ;) {
    const reply = await run.ask({ path: `/v1/events?after=${after}&limit=1000` });
    const page = EventPage.parse(reply.json);
    events.push(...page.events);
    if (page.next === null) return events;
    after = page.next;
  }
}

export const isEnd = ({ type }: TaskEvent): boolean =>
  type === "task.completed" || type === "task.failed" || type === "task.canceled";

export function checkLog(ledger: Ledger, log: readonly TaskEvent[]): Fault[] {
  return [
    ...checkStarts(ledger, log),
    ...checkSettledOnce(log),
    ...checkAnswers(ledger, log),
    ...checkProgress(ledger, log),
    ...checkResults(ledger, log),
    ...checkOutcomes(ledger, log),
  ];
}

export function unfinished(log: readonly TaskEvent[]): string[] {
  const ended = new Set(log.filter(isEnd).map(({ task }) => task));
  return of(log, "task.created").flatMap(({ task, data }) =>
    ended.has(task) ? [] : [`${task} (${data.agent}, ${data.runner}) has no end`],
  );
}

function of<T extends TaskEvent["type"]>(log: readonly TaskEvent[], ...types: T[]): EventOf<T>[] {
  return log.filter((event): event is EventOf<T> => types.some((type) => type === event.type));
}

const lost = (text: string): Fault => ({ kind: "lost", text });
const doubled = (text: string): Fault => ({ kind: "doubled", text });

/** Every acknowledged invocation is there, and none is there twice. */
function checkStarts({ started }: Ledger, log: readonly TaskEvent[]): Fault[] {
  const roots = of(log, "task.created").filter(({ data }) => data.parent === null);
  const there = new Set(roots.map(({ task }) => task));
  const known = new Set([...started.values()].map(({ task }) => task));
  return [
    ...[...started].filter(([, { task }]) => !there.has(task)).map(([key]) => lost(`the invocation ${key} is gone`)),
    ...roots.filter(({ task }) => !known.has(task)).map(({ task }) => doubled(`${task} was made by nobody's key`)),
    ...twice(roots.map(({ task }) => task)).map((task) => doubled(`${task} was created twice`)),
    ...(known.size === started.size ? [] : [doubled("two keys gave the same task")]),
  ];
}

/** One end per task, one settlement per ask and per wait, whoever was told what. */
function checkSettledOnce(log: readonly TaskEvent[]): Fault[] {
  const ends = log.filter(isEnd).map(({ task }) => task);
  const asks = of(log, "ask.answered", "ask.expired", "ask.withdrawn").map(({ data }) => data.ask);
  const waits = of(log, "wait.settled").map(({ data }) => data.wait);
  const reopened = of(log, "ask.reopened", "wait.reopened");
  return [
    ...twice(ends).map((task) => doubled(`${task} ended twice`)),
    ...twice([...asks, ...waits]).map((id) => doubled(`${id} was settled twice`)),
    ...reopened.map(({ data }) => lost(`an answer that fits was asked for again: ${JSON.stringify(data)}`)),
  ];
}

function checkAnswers(ledger: Ledger, log: readonly TaskEvent[]): Fault[] {
  const answers = new Map<string, unknown>(of(log, "ask.answered").map(({ data }) => [data.ask, data.answer]));
  const raised = of(log, "ask.raised");
  const settled = new Set(of(log, "wait.settled").map(({ data }) => `${data.wait} ${data.outcome}`));
  return [
    ...[...ledger.answers]
      .filter(([ask, answer]) => !isDeepStrictEqual(answers.get(ask), answer))
      .map(([ask, answer]) =>
        lost(`${ask} was answered ${JSON.stringify(answer)}, the log has ${JSON.stringify(answers.get(ask))}`),
      ),
    ...[...ledger.settled.keys()]
      .filter((wait) => !settled.has(`${wait} answered`))
      .map((wait) => lost(`the settlement of ${wait} is gone`)),
    ...ledger.workerAnswers.flatMap(({ task, question, value }) => {
      const ask = raised.find((event) => event.task === task && event.data.ask.question.includes(question))?.data.ask
        .id;
      const answer = ask === undefined ? undefined : answers.get(ask);
      return isDeepStrictEqual(answer, { kind: "question", value })
        ? []
        : [lost(`${question} was told ${JSON.stringify(value)}, the log has ${JSON.stringify(answer)}`)];
    }),
  ];
}

function checkProgress(ledger: Ledger, log: readonly TaskEvent[]): Fault[] {
  const said = new Map<string, number>();
  for (const { task, data } of of(log, "message.added")) {
    const text = JSON.stringify(data.message);
    for (const [, name] of text.matchAll(/(worker-\d+ step-\d+)\b/g)) {
      const place = `${task} ${name}`;
      said.set(place, (said.get(place) ?? 0) + 1);
    }
  }
  const canceled = new Set(of(log, "task.canceled").map(({ task }) => task));
  return [...ledger.progress].flatMap(([text, { task, acknowledged }]) => {
    const times = said.get(`${task} ${text}`) ?? 0;
    if (times > 1) return [doubled(`the progress "${text}" is there ${times} times`)];
    // What reaches a task at the moment it is canceled is not heard any more.
    return acknowledged && times === 0 && !canceled.has(task)
      ? [lost(`the progress "${text}" of ${task} is gone`)]
      : [];
  });
}

/** A result that was acknowledged is the task's, and is what its worker did in that attempt. */
function checkResults(ledger: Ledger, log: readonly TaskEvent[]): Fault[] {
  const faults: Fault[] = [];
  const ends = new Map(log.filter(isEnd).map((event) => [event.task, event]));
  for (const [task, { text }] of ledger.results) {
    const end = ends.get(task);
    if (end === undefined || end.type === "task.canceled") continue;
    const content = end.type === "task.completed" ? end.data.content : undefined;
    if (content !== text) faults.push(lost(`${task} was given "${text}" and ended with ${JSON.stringify(end.data)}`));
  }
  const spawned = of(log, "task.created").filter(({ data }) => data.runner === "operator");
  for (const { task } of spawned) {
    const end = ends.get(task);
    if (end?.type !== "task.completed") continue;
    const done = ledger.effects.filter((effect) => effect.task === task && effect.text === end.data.content);
    if (done.length !== 1) faults.push(doubled(`${task} ended with the work of ${done.length} workers`));
  }
  return faults;
}

/** Every kind of work ends as it must, unless it was canceled. */
function checkOutcomes(ledger: Ledger, log: readonly TaskEvent[]): Fault[] {
  const faults: Fault[] = [];
  const created = new Map(of(log, "task.created").map(({ task, root, data }) => [task, { ...data, root }]));
  // A task that many cuts met in a row is parked, which is asked about beside its own question.
  const parked = new Set(
    of(log, "ask.raised").flatMap(({ data: { ask } }) => (isParking(ask.question) ? [ask.id] : [])),
  );
  const answers = of(log, "ask.answered").filter(({ data }) => !parked.has(data.ask));
  for (const end of log.filter(isEnd)) {
    const task = created.get(end.task);
    if (task === undefined || task.parent === null || end.type === "task.canceled") {
      if (end.type === "task.canceled" && !ledger.canceled.has(end.root)) {
        faults.push(lost(`${end.task} was canceled by nobody: ${JSON.stringify(end.data)}`));
      }
      continue;
    }
    const said = answers.find((event) => event.task === end.task)?.data.answer;
    const wanted = wantedEnd(task.agent, said);
    const told = JSON.stringify(end.data);
    if (told.includes(changedMind)) faults.push(doubled(`${end.task} heard a second word of its gate`));
    else if (!wanted.test(`${end.type} ${told}`)) faults.push(lost(`${end.task} (${task.agent}) ended with ${told}`));
  }
  return faults;
}

function wantedEnd(agent: string, answer: EventOf<"ask.answered">["data"]["answer"] | undefined): RegExp {
  if (agent === refusedAgent) return new RegExp(`^task.failed .*"refused".*${refusal}`);
  if (agent === "looker") return /^task.completed .*saw seen-\d+/;
  if (agent === "asker") {
    return new RegExp(`^task.completed .*answered ${answer?.kind === "question" ? String(answer.value) : "nothing"}"`);
  }
  if (agent === "careful") {
    return answer?.kind === "approval" && answer.approved ? /^task.completed .*yes/ : /^task.completed .*no/;
  }
  return /^task.completed /;
}

function twice(values: readonly string[]): string[] {
  const seen = new Set<string>();
  return values.filter((value) => seen.has(value) || !seen.add(value));
}

/** The database itself: whole, and its log without gaps. */
export function checkDatabase(state: string): Fault[] {
  const { database, close } = openForReading(state);
  try {
    const faults: Fault[] = [];
    for (const row of database.prepare("PRAGMA integrity_check").all()) {
      if (row["integrity_check"] !== "ok") faults.push(lost(`integrity: ${String(row["integrity_check"])}`));
    }
    const log = database.prepare("SELECT COUNT(*) AS count, MAX(id) AS last FROM log").get();
    if (log?.["count"] !== log?.["last"]) faults.push(lost(`the log has gaps: ${JSON.stringify(log)}`));
    return faults;
  } finally {
    close();
  }
}

/** The same for a database of nodes: every event has its place in the one sequence, which has no gaps, and no tree is open. */
export async function checkSharedDatabase(address: DatabaseAddress): Promise<Fault[]> {
  const client = await connectTo(address);
  try {
    const none = async (sql: string, what: string): Promise<Fault[]> => {
      const found = await ask(client, sql);
      return found.length === 0 ? [] : [lost(`${what}: ${JSON.stringify(found.slice(0, 3))}`)];
    };
    return [
      ...(await none("SELECT id FROM due_batches", "batches without a place in the sequence")),
      ...(await none("SELECT root FROM trees WHERE open", "trees that are open")),
      ...(await none(
        `SELECT * FROM (SELECT count(*) AS events, max(b.base + l.place) AS last FROM log l JOIN batches b ON b.id = l.batch
           WHERE l.type IS NOT NULL) AS placed WHERE events <> last`,
        "the sequence has gaps",
      )),
      ...(await none(
        `SELECT id / ${treeUnit} AS tree FROM log GROUP BY 1 HAVING count(*) <> max(id) % ${treeUnit}`,
        "logs of trees with holes",
      )),
    ];
  } finally {
    await client.end();
  }
}
