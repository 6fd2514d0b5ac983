// Answers about goals from the events of their trees, and passes on what people say to them.

import type { Reader, Tutti } from "../../client/client.ts";
import { capText } from "../../core/cap-text.ts";
import { goalIn } from "../../core/fold-goal.ts";
import { goalGate, goalProgress } from "../../core/goal-gate.ts";
import { goalOfTask, taskOfGoal } from "../../core/goal-id.ts";
import { emptyRecord, foldRecord, type GoalRecord, goalReport } from "../../core/make-report.ts";
import { waitingIn, waitingText } from "../../core/model-waiting.ts";
import { eventView } from "../../engine/event-view.ts";
import type { Engine } from "../../engine/engine.ts";
import { taskBodyIn } from "../../engine/task-body.ts";
import { GoalListQuery, type ListedGoal } from "../../protocol/api/goal-shapes.ts";
import { TuttiError } from "../../protocol/error.ts";
import type { GoalId, TaskId } from "../../protocol/ids.ts";
import { GoalFile } from "../../protocol/invocation/goal-file.ts";
import { userMessage } from "../../protocol/task/message.ts";
import { isTerminal, type TaskStatus } from "../../protocol/task/task-status.ts";
import { idInName, taskName } from "../../store/names.ts";
import type { StoreView, TaskListing } from "../../store/view.ts";
import { mayTell } from "./program-words.ts";

type GoalReads = Pick<Reader, "goals" | "goal" | "goalReport">;

const pageLength = 1024 * 1024;
const pageEvents = 1_000;
/** The last events of a manager in which its status is looked for; it changes it often. */
const recent = 100;
const shownText = 400;
/** Tasks of a goal whose latest events are looked at, and how many of these. */
const mostLookedAt = 20;
const latestEvents = 4;

export function goalReads(view: StoreView, now: () => number): GoalReads {
  const recordOf = async (goal: GoalId): Promise<{ readonly record: GoalRecord; readonly status: TaskStatus }> => {
    const task = taskOfGoal(goal);
    const id = idInName(view.salt, task);
    const row = id === undefined ? undefined : await view.task(id);
    if (id === undefined || row?.kind !== "manager") throw new TuttiError("not_found", `there is no goal ${goal}`);
    return { record: await readRecord(view, { id, task }), status: row.status };
  };
  return {
    async goals(query = {}) {
      const { limit, cursor } = GoalListQuery.parse(query);
      const after = cursor === undefined ? {} : { after: Number(cursor) };
      const found = await view.tasks({ limit, maxLength: pageLength, runner: "manager", roots: true, ...after });
      const goals: ListedGoal[] = [];
      // One after the other: a record and its events may have megabytes, of which little is shown.
      for (const row of found.rows) goals.push(await listedGoal(view, row, now()));
      return { goals, next: found.more ? String(found.rows.at(-1)?.id) : null };
    },
    async goal(id) {
      const { record, status } = await recordOf(id);
      const goal = goalIn(record.goal);
      if (goal === undefined) throw notBegun(id, status);
      return { ...goal, progress: goalProgress(goal), missing: [...goalGate(goal).missing] };
    },
    async goalReport(id) {
      const { record, status } = await recordOf(id);
      const report = goalReport(record);
      if (report === undefined) throw notBegun(id, status);
      return report;
    },
  };
}

export function goalTeller(
  engine: Pick<Engine, "message">,
  reads: GoalReads,
  view: Parameters<typeof mayTell>[0],
): Tutti["tellGoal"] {
  return async (goal, text, { program } = {}) => {
    const task = taskOfGoal(goal);
    await mayTell(view, task, program);
    await reads.goal(goal);
    await engine.message(task, userMessage(text));
    return task;
  };
}

async function readRecord(
  view: StoreView,
  { id, task }: { readonly id: number; readonly task: TaskId },
): Promise<GoalRecord> {
  const record = emptyRecord(task);
  for (let more = true; more;) {
    const page = await view.events(id, { after: record.tree.seq, limit: pageEvents, maxLength: pageLength });
    for (const event of page.rows) foldRecord(record, eventView(view.salt, event));
    more = page.more;
  }
  return record;
}

/** What a goal waits for whose model, or that of one of its tasks, has to be called again. */
async function waitingOf(view: StoreView, { id, status }: TaskListing, now: number): Promise<string | undefined> {
  if (status !== "running") return undefined;
  const { rows } = await view.tasks({ parent: id, status: "running", limit: mostLookedAt });
  for (const each of [id, ...rows.map((row) => row.id)]) {
    const { rows: latest } = await view.recentEvents(each, { limit: latestEvents, maxLength: pageLength });
    const waiting = waitingIn(latest.map((event) => eventView(view.salt, event)));
    if (waiting !== undefined) return waitingText(waiting, now);
  }
  return undefined;
}

async function listedGoal(view: StoreView, row: TaskListing, now: number): Promise<ListedGoal> {
  const waiting = await waitingOf(view, row, now);
  const listed = await goalInList(view, row);
  return waiting === undefined ? listed : { ...listed, reason: waiting };
}

async function goalInList(view: StoreView, { id, status, created_at }: TaskListing): Promise<ListedGoal> {
  const task = taskName(view.salt, id);
  const row = await view.taskRow(id);
  const { data: file } = GoalFile.safeParse(row === undefined ? undefined : taskBodyIn(row.body).input);
  const listed = { goal: goalOfTask(task), task, text: file?.goal.text.slice(0, shownText) ?? "", created_at };
  if (status === "canceled") return { ...listed, status: "abandoned", reason: "it was canceled" };
  const { rows: events } = await view.recentEvents(id, { limit: recent, maxLength: pageLength });
  for (const event of events.toReversed()) {
    const { type, data } = eventView(view.salt, event);
    if (type === "goal.changed") return { ...listed, status: data.status, reason: capText(data.reason, shownText) };
    if (type === "goal.linked") return { ...listed, status: "in_progress", reason: "" };
  }
  return status === "failed"
    ? { ...listed, status: "failed", reason: "its manager failed" }
    : { ...listed, status: events.length < recent ? "pending" : "in_progress", reason: "" };
}

function notBegun(goal: GoalId, status: TaskStatus): TuttiError {
  if (isTerminal(status)) return new TuttiError("not_found", `the goal ${goal} ended before its manager began`);
  return new TuttiError("busy", `the manager of the goal ${goal} has not begun yet; ask again in a moment`);
}
