// What a run of events changes in the index: tasks, goals, open asks, counts by minute, errors and texts, each summed up once.

import type { TaskEvent } from "../../protocol/task/event.ts";
import type { GoalLink, GoalStatus } from "../../protocol/task/goal.ts";
import { isTerminal, type TaskStatus } from "../../protocol/task/task-status.ts";
import { idInName, type Salt } from "../../store/names.ts";
import { type TextKind, textOf } from "./event-texts.ts";

interface TaskChange {
  readonly id: number;
  readonly root: number;
  made: { parent: number | null; agent: string; runner: string; title: string; at: number } | null;
  lastAt: number;
  status: TaskStatus | null;
  endedAt: number | null;
  tokens: number;
  money: number;
}

interface MinuteCounts {
  readonly minute: number;
  created: number;
  completed: number;
  failed: number;
  canceled: number;
  asks: number;
  drifts: number;
  tokens: number;
  money: number;
}

interface TextRow {
  readonly seq: number;
  readonly at: number;
  readonly kind: TextKind;
  readonly task: number;
  readonly root: number;
  readonly text: string;
}

interface ErrorRow {
  readonly seq: number;
  readonly at: number;
  readonly task: number;
  readonly code: string;
  readonly message: string;
}

/** In the order in which they happened. */
export type GoalChange = { readonly root: number; readonly at: number } & (
  | { readonly kind: "created"; readonly text: string; readonly folder: string | null; readonly status: GoalStatus }
  | { readonly kind: "criterion"; readonly id: string; readonly state: string }
  | { readonly kind: "planned"; readonly tasks: number }
  | { readonly kind: "link"; readonly task: number; readonly state: GoalLink["state"] }
  | { readonly kind: "status"; readonly status: GoalStatus; readonly reason: string }
  | { readonly kind: "ended"; readonly status: GoalStatus | null; readonly reason: string }
);

interface AskChange {
  readonly ask: string;
  readonly root: number;
  readonly open: boolean;
}

export interface InsightBatch {
  /** The sequence of the last event that it holds. */
  readonly upTo: number;
  readonly tasks: readonly TaskChange[];
  readonly minutes: readonly MinuteCounts[];
  readonly texts: readonly TextRow[];
  readonly errors: readonly ErrorRow[];
  readonly goals: readonly GoalChange[];
  readonly asks: readonly AskChange[];
  readonly evidence: readonly { readonly id: string; readonly seq: number }[];
}

const minuteMs = 60_000;
const [shownTitle, shownGoal, shownError] = [200, 400, 300];

export function batchOf(salt: Salt, upTo: number, events: readonly TaskEvent[]): InsightBatch {
  const tasks = new Map<number, TaskChange>();
  const minutes = new Map<number, MinuteCounts>();
  const batch = {
    texts: [] as TextRow[],
    errors: [] as ErrorRow[],
    goals: [] as GoalChange[],
    asks: [] as AskChange[],
    evidence: [] as { id: string; seq: number }[],
  };
  for (const event of events) {
    const [task, root] = [idInName(salt, event.task), idInName(salt, event.root)];
    if (task === undefined || root === undefined) continue;
    const change = changeOf(tasks, { id: task, root }, event.at);
    const counts = countsOf(minutes, event.at);
    noteTask(change, counts, { salt, event });
    const text = textOf(event);
    if (text !== undefined) batch.texts.push({ seq: event.seq, at: event.at, task, root, ...text });
    const error = errorOf(event);
    if (error !== undefined) {
      batch.errors.push({
        seq: event.seq,
        at: event.at,
        task,
        code: error.code.slice(0, 100),
        message: error.message.slice(0, shownError),
      });
    }
    if (event.type === "evidence.added") batch.evidence.push({ id: event.data.evidence.id, seq: event.seq });
    const ask = askOf(event);
    if (ask !== undefined) batch.asks.push({ ...ask, root });
    for (const goal of goalChanges(salt, event)) batch.goals.push({ root, at: event.at, ...goal });
    if (task === root) {
      const ended = endOfManager(event);
      if (ended !== undefined) batch.goals.push({ root, at: event.at, ...ended });
    }
  }
  return { upTo, tasks: [...tasks.values()], minutes: [...minutes.values()], ...batch };
}

function changeOf(tasks: Map<number, TaskChange>, place: { id: number; root: number }, at: number): TaskChange {
  const known = tasks.get(place.id);
  if (known !== undefined) {
    known.lastAt = Math.max(known.lastAt, at);
    return known;
  }
  const added: TaskChange = { ...place, made: null, lastAt: at, status: null, endedAt: null, tokens: 0, money: 0 };
  tasks.set(place.id, added);
  return added;
}

function countsOf(minutes: Map<number, MinuteCounts>, at: number): MinuteCounts {
  const minute = Math.floor(at / minuteMs) * minuteMs;
  const known = minutes.get(minute);
  if (known !== undefined) return known;
  const added = { minute, created: 0, completed: 0, failed: 0, canceled: 0, asks: 0, drifts: 0, tokens: 0, money: 0 };
  minutes.set(minute, added);
  return added;
}

function noteTask(
  change: TaskChange,
  counts: MinuteCounts,
  { salt, event }: { readonly salt: Salt; readonly event: TaskEvent },
): void {
  const status = statusAfter[event.type];
  if (status !== undefined) {
    change.status = status;
    if (isTerminal(status)) change.endedAt = event.at;
    if (status === "completed" || status === "failed" || status === "canceled") counts[status] += 1;
  }
  if (event.type === "task.created") {
    const { parent, agent, runner, prompt = "" } = event.data;
    const title = firstLine(prompt).slice(0, shownTitle);
    change.made = {
      parent: parent === null ? null : (idInName(salt, parent) ?? null),
      agent,
      runner,
      title,
      at: event.at,
    };
    counts.created += 1;
  }
  if (event.type === "ask.raised") counts.asks += 1;
  if (event.type === "call.drifted") counts.drifts += event.data.count;
  const used = useOf(event);
  change.tokens += used.tokens;
  change.money += used.money;
  counts.tokens += used.tokens;
  counts.money += used.money;
}

const statusAfter: Readonly<Partial<Record<TaskEvent["type"], TaskStatus>>> = {
  "task.created": "pending",
  "task.started": "running",
  "task.resumed": "running",
  "task.input_required": "input_required",
  "task.completed": "completed",
  "task.failed": "failed",
  "task.canceled": "canceled",
};

function useOf(event: TaskEvent): { readonly tokens: number; readonly money: number } {
  switch (event.type) {
    case "step.finished":
      return { tokens: event.data.tokens, money: event.data.money_micro_usd };
    case "message.added":
      return { tokens: event.data.step?.tokens ?? 0, money: event.data.step?.money_micro_usd ?? 0 };
    case "budget.settled": {
      const { input_tokens, output_tokens, money_micro_usd } = event.data.spent;
      return { tokens: input_tokens + output_tokens, money: money_micro_usd ?? 0 };
    }
    default:
      return { tokens: 0, money: 0 };
  }
}

function errorOf(event: TaskEvent): { readonly code: string; readonly message: string } | undefined {
  if (event.type === "task.failed") return event.data.error;
  return event.type === "step.finished" && event.data.outcome === "failed" ? event.data.error : undefined;
}

function askOf(event: TaskEvent): Pick<AskChange, "ask" | "open"> | undefined {
  switch (event.type) {
    case "ask.raised":
      return { ask: event.data.ask.id, open: event.data.ask.status === "open" };
    case "ask.reopened":
      return { ask: event.data.ask, open: true };
    case "ask.answered":
    case "ask.expired":
    case "ask.withdrawn":
      return { ask: event.data.ask, open: false };
    default:
      return undefined;
  }
}

type GoalChangeOnly = GoalChange extends infer C ? (C extends GoalChange ? Omit<C, "root" | "at"> : never) : never;

function goalChanges(salt: Salt, event: TaskEvent): GoalChangeOnly[] {
  switch (event.type) {
    case "task.created": {
      const { runner, parent, prompt = "" } = event.data;
      // Its manager has not begun yet.
      return runner === "manager" && parent === null
        ? [{ kind: "created", text: prompt.slice(0, shownGoal), folder: null, status: "pending" }]
        : [];
    }
    case "goal.created": {
      const { text, roots, status, acceptance } = event.data.goal;
      return [
        { kind: "created", text: text.slice(0, shownGoal), folder: roots[0] ?? null, status },
        ...acceptance.map(({ id, state }) => ({ kind: "criterion" as const, id, state })),
      ];
    }
    case "goal.criteria_added":
      return event.data.criteria.map(({ id, state }) => ({ kind: "criterion", id, state }));
    case "goal.criterion_judged":
      return [{ kind: "criterion", id: event.data.id, state: event.data.state }];
    case "goal.planned":
      return [{ kind: "planned", tasks: event.data.tasks.length }];
    case "goal.linked":
      return linkChange(salt, event.data.task, "launched");
    case "goal.link_changed":
      return linkChange(salt, event.data.task, event.data.state);
    case "goal.changed":
      return [{ kind: "status", status: event.data.status, reason: event.data.reason.slice(0, shownError) }];
    default:
      return [];
  }
}

function linkChange(salt: Salt, name: string, state: GoalLink["state"]): GoalChangeOnly[] {
  const task = idInName(salt, name);
  return task === undefined ? [] : [{ kind: "link", task, state }];
}

/** When its manager ends, the goal ends, whatever its last status was. */
function endOfManager(event: TaskEvent): Extract<GoalChangeOnly, { kind: "ended" }> | undefined {
  switch (event.type) {
    case "task.completed":
      return { kind: "ended", status: null, reason: "" };
    case "task.failed":
      return { kind: "ended", status: "failed", reason: "its manager failed" };
    case "task.canceled":
      return { kind: "ended", status: "abandoned", reason: "it was canceled" };
    default:
      return undefined;
  }
}

function firstLine(text: string): string {
  return text.trimStart().split("\n", 1)[0] ?? "";
}
