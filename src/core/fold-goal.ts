// A goal as the events of its tree tell it: what it is now, and what was routed, handed on and observed for it.

import type { TaskEvent } from "../protocol/task/event.ts";
import type { Evidence } from "../protocol/task/evidence.ts";
import type { Criterion, Goal, GoalLink, GoalNote, GoalStatus, PlannedTask } from "../protocol/task/goal.ts";
import type { EvidenceId, TaskId, Time } from "../protocol/ids.ts";
import { isWithinCheck, type StartedCheck } from "../protocol/task/started-check.ts";
import { goalGate } from "./goal-gate.ts";

type EventData<T extends TaskEvent["type"]> = Extract<TaskEvent, { type: T }>["data"];
type RouteTold = EventData<"route.decided">;
type HandoffMove = EventData<"handoff.moved">;
type Integration = EventData<"goal.integrated">;

/** An event of a goal without its place in the log, as the manager tells it. */
export type GoalEvent = {
  [T in Extract<TaskEvent["type"], `goal.${string}`>]: { readonly type: T; readonly data: EventData<T> };
}[Extract<TaskEvent["type"], `goal.${string}`>];

export interface FoldedGoal {
  /** The task of the goal's manager, which is the root of the tree. */
  readonly task: TaskId;
  /** The attempt of the manager that the goal is told by; a later attempt begins the goal anew. */
  attempt: number;
  /** What `goal.created` said, with the fields that later events change. */
  base: Goal | undefined;
  readonly criteria: Map<string, Criterion>;
  readonly plan: Map<string, PlannedTask>;
  readonly links: Map<TaskId, GoalLink>;
  readonly notes: GoalNote[];
  readonly dropped: { readonly what: string; readonly reason: string }[];
  /** Why each link has its state. */
  readonly reasons: Map<TaskId, string>;
  /** Why each criterion has its state. */
  readonly judgements: Map<string, string>;
  /** The newest route of each task below. */
  readonly routes: Map<TaskId, RouteTold>;
  readonly handoffs: Map<TaskId, HandoffMove[]>;
  readonly evidence: Map<EvidenceId, Evidence>;
  /** The run of a check that each task is at, and since when. */
  readonly checking: Map<TaskId, { readonly started: StartedCheck; readonly since: Time }>;
  /** The newest integration of the tasks' work. */
  integration: Integration | undefined;
  /** The sequence of the last event that was folded. */
  seq: number;
}

export function emptyGoal(task: TaskId): FoldedGoal {
  return {
    task,
    attempt: 0,
    base: undefined,
    criteria: new Map(),
    plan: new Map(),
    links: new Map(),
    notes: [],
    dropped: [],
    reasons: new Map(),
    judgements: new Map(),
    routes: new Map(),
    handoffs: new Map(),
    evidence: new Map(),
    checking: new Map(),
    integration: undefined,
    seq: 0,
  };
}

/** The goal as it is now; undefined before it was created. */
export function goalIn(folded: FoldedGoal): Goal | undefined {
  const { base, criteria, plan, links, notes } = folded;
  if (base === undefined) return undefined;
  return {
    ...base,
    acceptance: [...criteria.values()],
    plan: [...plan.values()],
    links: [...links.values()],
    notes: [...notes],
  };
}

/**
 * Takes one event of the tree into the goal and returns the goal. Events come in the order of their sequence; one that was
 * folded before changes nothing. Events of a goal count only on the task of its manager. The goal is changed in place, so
 * that an event costs the same however large the goal is.
 */
export function foldGoal(folded: FoldedGoal, event: TaskEvent): FoldedGoal {
  if (event.seq <= folded.seq) return folded;
  folded.seq = event.seq;
  if (event.type === "check.started") folded.checking.set(event.task, { started: event.data, since: event.at });
  else if (!isWithinCheck(event)) folded.checking.delete(event.task);
  switch (event.type) {
    case "route.decided":
      folded.routes.set(event.task, event.data);
      return folded;
    case "handoff.moved": {
      const moves = folded.handoffs.get(event.task);
      if (moves === undefined) folded.handoffs.set(event.task, [event.data]);
      else moves.push(event.data);
      return folded;
    }
    case "evidence.added":
      folded.evidence.set(event.data.evidence.id, event.data.evidence);
      return folded;
    default:
      break;
  }
  if (event.task !== folded.task) return folded;
  if (isGoalEvent(event)) {
    const { attempt = 1 } = event;
    if (event.type === "goal.created" && attempt > folded.attempt) beginAnew(folded, attempt);
    if (attempt === folded.attempt) foldGoalEvent(folded, event, event.at);
  } else if (event.type === "task.failed") {
    change(folded, { status: "failed", reason: event.data.error.message }, event.at);
  } else if (event.type === "task.canceled") {
    change(folded, { status: "abandoned", reason: event.data.reason }, event.at);
  }
  return folded;
}

function isGoalEvent(event: TaskEvent): event is Extract<TaskEvent, { type: `goal.${string}` }> {
  return event.type.startsWith("goal.");
}

function beginAnew(folded: FoldedGoal, attempt: number): void {
  folded.attempt = attempt;
  folded.base = undefined;
  folded.integration = undefined;
  for (const part of [folded.criteria, folded.plan, folded.links, folded.reasons, folded.judgements]) part.clear();
  folded.notes.length = 0;
  folded.dropped.length = 0;
}

/** Takes what the manager tells into the goal. What an ended goal would be told changes nothing. */
export function foldGoalEvent(folded: FoldedGoal, { type, data }: GoalEvent, at: Time): void {
  if (type === "goal.created") {
    if (folded.base === undefined) create(folded, data.goal);
    return;
  }
  if (folded.base === undefined || isEnded(folded.base.status)) return;
  folded.base = { ...folded.base, updated_at: at };
  switch (type) {
    case "goal.criteria_added":
      for (const criterion of data.criteria) {
        if (!folded.criteria.has(criterion.id)) folded.criteria.set(criterion.id, criterion);
      }
      return;
    case "goal.criteria_confirmed":
      for (const id of data.ids) {
        const known = folded.criteria.get(id);
        if (known !== undefined) folded.criteria.set(id, { ...known, confirmed: true });
      }
      return;
    case "goal.planned":
      folded.base = { ...folded.base, rounds: Math.max(folded.base.rounds, data.round) };
      folded.dropped.push(...data.dropped);
      for (const task of data.tasks) if (!folded.plan.has(task.id)) folded.plan.set(task.id, task);
      return;
    case "goal.linked":
      link(folded, data, at);
      return;
    case "goal.link_changed":
      changeLink(folded, data);
      return;
    case "goal.criterion_judged": {
      const known = folded.criteria.get(data.id);
      if (known === undefined) return;
      folded.criteria.set(data.id, { ...known, state: data.state, evidence: data.evidence });
      folded.judgements.set(data.id, data.reason);
      return;
    }
    case "goal.integrated":
      folded.integration = data;
      return;
    case "goal.noted":
      folded.notes.push({ at, text: data.text });
      return;
    case "goal.changed":
      change(folded, data, at);
      return;
  }
}

/** `done`, `failed` and `abandoned` are final. */
function isEnded(status: GoalStatus): boolean {
  return status === "done" || status === "failed" || status === "abandoned";
}

function create(folded: FoldedGoal, goal: Goal): void {
  folded.attempt ||= 1;
  folded.base = goal;
  for (const criterion of goal.acceptance) folded.criteria.set(criterion.id, criterion);
  for (const task of goal.plan) folded.plan.set(task.id, task);
  for (const each of goal.links) folded.links.set(each.task, each);
  folded.notes.push(...goal.notes);
}

function link(folded: FoldedGoal, { task, planned }: EventData<"goal.linked">, at: Time): void {
  if (folded.links.has(task) || !folded.plan.has(planned)) return;
  folded.links.set(task, { task, planned, state: "launched", superseded_by: null, evidence: [] });
  if (folded.base?.status === "pending") change(folded, { status: "in_progress", reason: "a task was launched" }, at);
}

/** A verified link never changes, and a failed one only when a later task takes its place. */
function changeLink(folded: FoldedGoal, data: EventData<"goal.link_changed">): void {
  const { task, state, superseded_by, evidence, reason } = data;
  const known = folded.links.get(task);
  if (known === undefined || known.state === "verified" || known.state === "superseded") return;
  if (known.state === "failed" && state !== "superseded") return;
  folded.links.set(task, { ...known, state, superseded_by, evidence });
  folded.reasons.set(task, reason);
}

/** A goal becomes `done` only through its gate, whoever says so. */
function change(folded: FoldedGoal, { status, reason }: EventData<"goal.changed">, at: Time): void {
  const { base } = folded;
  if (base === undefined || isEnded(base.status)) return;
  const goal = status === "done" ? goalIn(folded) : undefined;
  if (goal !== undefined && !goalGate(goal).open) return;
  folded.base = { ...base, status, reason, updated_at: at };
}
