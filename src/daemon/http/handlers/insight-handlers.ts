// Answers searches, the board of goals and the charts of the fleet from the index.

import { goalOfTask, taskOfGoal } from "../../../core/goal-id.ts";
import { type FleetWindow, SearchKind, type SearchHit } from "../../../protocol/api/insight-shapes.ts";
import { TuttiError } from "../../../protocol/error.ts";
import { GoalStatus } from "../../../protocol/task/goal.ts";
import { TaskStatus } from "../../../protocol/task/task-status.ts";
import { idInName, type Salt, taskName } from "../../../store/names.ts";
import type { BoardRow, FoundText, SeriesRow, TaskRow } from "../../insight/insight-queries.ts";
import { searchExpression } from "../../insight/search-expression.ts";
import type { HttpContext } from "../context.ts";
import type { Handlers } from "../handler.ts";

type InsightRoute = "search" | "board" | "evidence" | "fleetSeries" | "fleetTasks" | "fleetErrors";

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

/** How far each window goes back, and how long one point of it is. */
const windows: Readonly<Record<(typeof FleetWindow)["options"][number], { ms: number; bucketMs: number }>> = {
  "1h": { ms: hourMs, bucketMs: minuteMs },
  "6h": { ms: 6 * hourMs, bucketMs: 5 * minuteMs },
  "24h": { ms: 24 * hourMs, bucketMs: 15 * minuteMs },
  "7d": { ms: 7 * 24 * hourMs, bucketMs: hourMs },
  "30d": { ms: 30 * 24 * hourMs, bucketMs: 6 * hourMs },
};

const newest = Number.MAX_SAFE_INTEGER;

export function insightHandlers({ state: { insight, view, feed } }: HttpContext): Pick<Handlers, InsightRoute> {
  const { salt } = view;
  return {
    async search({ query: { q, kind, goal, limit, cursor } }) {
      const root = goal === undefined ? undefined : idInName(salt, taskOfGoal(goal));
      if (goal !== undefined && root === undefined) throw new TuttiError("not_found", `there is no goal ${goal}`);
      const expression = searchExpression(q, { kind, root });
      if (expression === undefined) {
        throw new TuttiError("invalid_input", "there is no word to look for; type letters or digits");
      }
      const before = cursor === undefined ? newest : Number(cursor);
      const question = { expression, before, limit: limit + 1 };
      const { answer, seq, behind } = await insight.ask({ kind: "search", question });
      const { found } = answer;
      const hits = found.slice(0, limit).map((text) => hitOf(salt, text));
      return { value: { hits, next: found.length > limit ? String(hits.at(-1)?.seq) : null, seq, behind } };
    },
    async board({ query: { status = null, folder = null, limit, cursor } }) {
      const before = cursor === undefined ? newest : Number(cursor);
      const question = { status, folder, before, limit: limit + 1, folders: cursor === undefined };
      const { answer, seq, behind } = await insight.ask({ kind: "board", question });
      const { board } = answer;
      const rows = board.goals.slice(0, limit);
      const next = board.goals.length > limit ? String(rows.at(-1)?.root) : null;
      return { value: { goals: rows.map((row) => boardGoal(salt, row)), folders: board.folders, next, seq, behind } };
    },
    async evidence({ params: { evidence } }) {
      const { answer } = await insight.ask({ kind: "evidence", id: evidence });
      const { events } = answer.at === undefined ? { events: [] } : await feed.read({ after: answer.at - 1, limit: 1 });
      const event = events[0]?.event;
      if (event?.type !== "evidence.added" || event.data.evidence.id !== evidence) {
        throw new TuttiError("not_found", `there is no evidence ${evidence}`);
      }
      return { value: event.data.evidence };
    },
    async fleetSeries({ query: { window } }) {
      const { ms, bucketMs } = windows[window];
      const to = (Math.floor(Date.now() / bucketMs) + 1) * bucketMs;
      const from = to - ms;
      const { answer, seq, behind } = await insight.ask({ kind: "series", question: { from, to, bucketMs } });
      return {
        value: { from, to, bucket_ms: bucketMs, points: filled(answer.points, { from, to, bucketMs }), seq, behind },
      };
    },
    async fleetTasks({ query: { window, order, limit } }) {
      const now = Date.now();
      const from = order === "slowest" ? now - windows[window].ms : 0;
      const { answer, seq, behind } = await insight.ask({ kind: "tasks", question: { order, from, limit } });
      return { value: { tasks: answer.tasks.map((row) => fleetTask(salt, row, now)), seq, behind } };
    },
    async fleetErrors({ query: { window } }) {
      const { answer, seq, behind } = await insight.ask({ kind: "errors", from: Date.now() - windows[window].ms });
      const shown = answer.errors.map(({ code, count, at, task, agent, message }) => {
        return { code, count, last_at: at, task: taskName(salt, task), agent, message };
      });
      return { value: { errors: shown, seq, behind } };
    },
  };
}

function hitOf(salt: Salt, found: FoundText): SearchHit {
  const { seq, at, kind, task, root, isGoal, agent, title, excerpt } = found;
  const top = taskName(salt, root);
  return {
    seq,
    at,
    kind: SearchKind.parse(kind),
    task: taskName(salt, task),
    root: top,
    goal: isGoal ? goalOfTask(top) : null,
    agent,
    title,
    excerpt: piecesOf(excerpt),
  };
}

/** U+0001 begins a match and U+0002 ends it; no text has either. */
function piecesOf(excerpt: string): SearchHit["excerpt"] {
  const [before = "", ...rest] = excerpt.split("\u0001");
  const pieces = [{ text: before, match: false }];
  for (const piece of rest) {
    const [match = "", after = ""] = piece.split("\u0002");
    pieces.push({ text: match, match: true }, { text: after, match: false });
  }
  return pieces.filter(({ text }) => text !== "");
}

function boardGoal(salt: Salt, row: BoardRow) {
  const task = taskName(salt, row.root);
  const { text, folder, reason, planned, launched, running, verified, failed, met, unmet, asks, tokens } = row;
  return {
    goal: goalOfTask(task),
    task,
    text,
    folder,
    status: GoalStatus.parse(row.status),
    reason,
    progress: launched === 0 ? 0 : Math.round((100 * verified) / launched),
    tasks: { planned, launched, running, verified, failed },
    criteria: { total: row.criteria, met, unmet },
    asks,
    tokens,
    money_micro_usd: row.money,
    created_at: row.created_at,
    updated_at: row.updated_at,
    ended_at: row.ended_at,
  };
}

/** With a point for each stretch in which nothing happened. */
function filled(points: readonly SeriesRow[], { from, to, bucketMs }: { from: number; to: number; bucketMs: number }) {
  const byTime = new Map(points.map((point) => [point.at, point]));
  return Array.from({ length: Math.round((to - from) / bucketMs) }, (_, index) => {
    const at = from + index * bucketMs;
    const {
      created = 0,
      completed = 0,
      failed = 0,
      canceled = 0,
      asks = 0,
      drifts = 0,
      tokens = 0,
      money = 0,
    } = byTime.get(at) ?? {};
    return { at, created, completed, failed, canceled, asks, drifts, tokens, money_micro_usd: money };
  });
}

function fleetTask(salt: Salt, row: TaskRow, now: number) {
  const root = taskName(salt, row.root);
  const { agent, runner, title, created_at, ended_at, last_at, tokens, money } = row;
  return {
    task: taskName(salt, row.id),
    root,
    goal: row.isGoal ? goalOfTask(root) : null,
    agent,
    runner,
    title,
    status: TaskStatus.parse(row.status),
    created_at,
    ended_at,
    last_event_at: last_at,
    ms: Math.max(0, ended_at === null ? now - last_at : ended_at - created_at),
    tokens,
    money_micro_usd: money,
  };
}
