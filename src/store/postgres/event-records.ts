// Reads events by their places in the one sequence, with the rows they point at: tasks they made, results, asks.

import { z } from "zod";

import { isTerminal, TaskStatus } from "../../protocol/task/task-status.ts";
import { idInName, type Salt } from "../names.ts";
import { recordLength } from "../sqlite/event-records.ts";
import { pageOf } from "../sqlite/page-rows.ts";
import * as row from "../sqlite/rows.ts";
import type { StoredEvent } from "../store.ts";
import type { EventRecord, ReadLimits, Rows } from "../view.ts";
import type { Reads } from "./database-connection.ts";

/** Events that have their place; one that is committed gets it a moment later. */
const placed = "log l JOIN batches b ON b.id = l.batch";
const columns = `b.base + l.place AS seq, l.key, l.at, l.kind, l.type, l.tokens, l.money, l.body,
  r.task, r.attempt, r.run AS ordinal, t.root`;

export interface EventReads {
  /**
   * The events that a statement finds the ids and lengths of, one more than the limit, in the order it finds them.
   * `from` is what follows FROM, with `l` for the log and `b` for the batches.
   */
  page(from: string, values: readonly unknown[], limits: ReadLimits): Promise<Rows<StoredEvent>>;
  withRows(events: readonly StoredEvent[]): Promise<EventRecord[]>;
}

export { placed };

/** How much is read of an event before its length is known from the rows themselves. */
const length = "100 + octet_length(l.key) + COALESCE(octet_length(l.body), 0)";

export function eventReads(reads: Reads, salt: Salt): EventReads {
  const rowsOf = async <T>(sql: string, ids: readonly number[], read: row.RowReader<T>): Promise<T[]> =>
    ids.length === 0 ? [] : (await reads.rows(sql, [ids])).map(read);
  return {
    async page(from, values, limits) {
      // First without the bodies, so that only as much is read as is shown.
      const found = await reads.rows(`SELECT l.id, ${length} AS length FROM ${from}`, values);
      const { rows: chosen, more } = pageOf(found, limits, (each) => row.integer(each, "length"));
      const ids = chosen.map((each) => row.integer(each, "id"));
      const sql = `SELECT l.id, ${columns} FROM unnest($1::bigint[]) WITH ORDINALITY AS given(id, position)
        JOIN log l ON l.id = given.id JOIN batches b ON b.id = l.batch
        JOIN runs r ON r.id = l.run JOIN tasks t ON t.id = r.task ORDER BY given.position`;
      return { rows: await rowsOf(sql, ids, row.eventIn), more };
    },
    async withRows(events) {
      const waitIds = new Map(events.map((event) => [event.seq, waitIn(salt, event)]));
      const [tasks, results, waits] = await Promise.all([
        rowsOf("SELECT * FROM tasks WHERE id = ANY($1)", idsOf(events, isCreated), row.taskIn),
        rowsOf("SELECT * FROM results WHERE task = ANY($1)", idsOf(events, endsTask), row.resultIn),
        rowsOf("SELECT * FROM waits WHERE id = ANY($1)", numbersIn(waitIds.values()), row.waitIn),
      ]);
      const answered = events.flatMap((event) => (event.type === "ask.answered" ? [waitIds.get(event.seq)] : []));
      const answers = await rowsOf("SELECT * FROM answers WHERE wait = ANY($1)", numbersIn(answered), row.answerIn);
      const [made, ended, asked, given] = [
        new Map(tasks.map((each) => [each.id, each])),
        new Map(results.map((each) => [each.task, each])),
        new Map(waits.map((each) => [each.id, each])),
        new Map(answers.map((each) => [each.wait, each])),
      ];
      return events.map((event): EventRecord => {
        const wait = asked.get(waitIds.get(event.seq) ?? 0);
        const [task, result] = [made.get(event.task), ended.get(event.task)];
        if (isCreated(event)) return task === undefined ? event : { ...event, made: task };
        if (endsTask(event)) return result === undefined ? event : { ...event, result };
        if (wait === undefined) return event;
        const answer = event.type === "ask.answered" ? given.get(wait.id) : undefined;
        return { ...event, wait, ...(answer === undefined ? {} : { answer }) };
      });
    },
  };
}

/** What fits, once the rows that the events point at are there. */
export function recordPage(records: readonly EventRecord[], limits: ReadLimits, more: boolean): Rows<EventRecord> {
  const page = pageOf(records, limits, recordLength);
  return { rows: page.rows, more: page.more || more };
}

const NamesWait = z.union([z.object({ ask: z.string() }), z.object({ wait: z.string() })]);
const pointing: ReadonlySet<string> = new Set(["ask.raised", "wait.opened", "ask.answered"]);

function waitIn(salt: Salt, { type, body }: StoredEvent): number | undefined {
  if (!pointing.has(type)) return undefined;
  const { data } = NamesWait.safeParse(JSON.parse(body ?? "null"));
  return data === undefined ? undefined : idInName(salt, "ask" in data ? data.ask : data.wait);
}

function isCreated({ type }: StoredEvent): boolean {
  return type === "task.created";
}

function endsTask({ type }: StoredEvent): boolean {
  const status = type.startsWith("task.") ? TaskStatus.safeParse(type.slice("task.".length)).data : undefined;
  return status !== undefined && isTerminal(status);
}

function idsOf(events: readonly StoredEvent[], which: (event: StoredEvent) => boolean): number[] {
  return [...new Set(events.filter(which).map(({ task }) => task))];
}

function numbersIn(values: Iterable<number | undefined>): number[] {
  return [...values].filter((value) => value !== undefined);
}
