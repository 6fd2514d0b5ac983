// Tells what the sessions of tasks are doing, from what is recorded of them.

import { activityOf, isQuiet, type Seen, summaryOf } from "../../core/activity.ts";
import { waitingIn } from "../../core/model-waiting.ts";
import { eventView } from "../../engine/event-view.ts";
import { ObserveQuery, type SessionPage, SessionQuery } from "../../protocol/api/session-shapes.ts";
import type { TaskId } from "../../protocol/ids.ts";
import { TuttiError } from "../../protocol/error.ts";
import { stoppedLabel } from "../../protocol/task/ask.ts";
import type { DetailedObservation, Observation } from "../../protocol/task/observation.ts";
import type { TaskEvent } from "../../protocol/task/event.ts";
import { isTerminal } from "../../protocol/task/task-status.ts";
import { askName, idInName, taskName } from "../../store/names.ts";
import type { StoreView, TaskListing } from "../../store/view.ts";

/** Enough to see a call three times with its results; long ones are left out. */
const eventsLookedAt = 24;
const longestLook = 256 * 1024;
const longestPage = 1024 * 1024;

export interface Observer {
  observe(task: TaskId, query?: ObserveQuery): Promise<DetailedObservation>;
  sessionPage(query?: SessionQuery): Promise<Omit<SessionPage, "held">>;
}

export function observerOf(view: StoreView, now: () => number): Observer {
  const { salt } = view;
  const hasOpenTasks = async (parent: number): Promise<boolean> => {
    for (const status of ["running", "input_required", "pending"] as const) {
      if ((await view.tasks({ parent, status, limit: 1 })).rows.length > 0) return true;
    }
    return false;
  };
  const look = async (row: TaskListing, limit: number): Promise<{ seen: Observation; events: TaskEvent[] }> => {
    const [records, asks] = await Promise.all([
      view.recentEvents(row.id, { limit, maxLength: longestLook }),
      row.status === "input_required" ? view.openWaits({ asks: true, below: row.id, after: 0, limit: 50 }) : undefined,
    ]);
    const events = records.rows.map((record) => eventView(salt, record));
    const own = (asks?.rows ?? []).filter(({ task }) => task === row.id);
    const at = now();
    const seen: Seen = {
      status: row.status,
      asks: own.map(({ question, label }) => ({ question: question ?? "", stopped: label === stoppedLabel })),
      events,
      now: at,
      // Asked only where it matters: a session of which something was heard is at work, whatever it started.
      hasOpenTasks: row.status === "running" && isQuiet({ events, now: at }) && (await hasOpenTasks(row.id)),
    };
    const [first] = own;
    const waiting = isTerminal(row.status) ? undefined : waitingIn(events);
    return {
      events,
      seen: {
        task: taskName(salt, row.id),
        agent: row.agent,
        runner: row.kind,
        status: row.status,
        attempt: Math.max(1, row.attempt),
        activity: activityOf(seen),
        summary: summaryOf(seen),
        last_event_at: events.at(-1)?.at ?? row.created_at,
        ask: first === undefined ? null : askName(salt, first.id),
        ...(waiting === undefined ? {} : { model_wait: waiting }),
      },
    };
  };
  /** An invocation does nothing itself: with one open task, that task is meant. */
  const onlySession = async ({ id, kind, status }: TaskListing): Promise<TaskListing | undefined> => {
    if (kind !== "invocation" || isTerminal(status)) return undefined;
    const { rows } = await view.tasks({ parent: id, limit: 200 });
    const open = rows.filter((row) => !isTerminal(row.status));
    return open.length === 1 ? open[0] : undefined;
  };
  return {
    async observe(task, query = {}) {
      const { recent } = ObserveQuery.parse(query);
      const id = idInName(salt, task);
      const row = id === undefined ? undefined : await view.task(id);
      if (row === undefined) throw new TuttiError("not_found", `there is no task ${task}`);
      const { seen, events } = await look((await onlySession(row)) ?? row, Math.max(eventsLookedAt, recent));
      return { ...seen, recent: recent === 0 ? [] : events.slice(-recent) };
    },
    async sessionPage(query = {}) {
      const { limit, cursor } = SessionQuery.parse(query);
      const after = cursor === undefined ? {} : { after: Number(cursor) };
      const { rows, more } = await view.tasks({ limit, maxLength: longestPage, sessions: true, ...after });
      const sessions = await Promise.all(rows.map(async (row) => (await look(row, eventsLookedAt)).seen));
      const last = rows.at(-1);
      return { sessions, next: more && last !== undefined ? String(last.id) : null };
    },
  };
}
