// What the engine holds in memory of a task that is not over: where it stands in its tree, its loop, who waits for it.

import type { Account, AccountKind } from "../core/account.ts";
import type { Quota } from "../core/quotas.ts";
import type { Rights } from "../core/rights.ts";
import type { Budget } from "../protocol/task/budget.ts";
import type { TuttiError } from "../protocol/error.ts";
import type { AgentResult } from "../protocol/invocation/invocation-result.ts";
import type { TaskStatus } from "../protocol/task/task-status.ts";
import type { RunnerRegistry } from "../ports.ts";
import type { SlotQueue, Slots } from "./slots.ts";

/** What all tasks of one root share. */
export interface Tree {
  /** Set when the root is recorded, never after. */
  root: number;
  budget: Budget;
  /** Tasks ever made in it, finished ones too. */
  tasks: number;
  readonly slots: SlotQueue;
  /** What the root task was given, read when the first task of the tree looks at it. */
  rootRecord: { readonly input: unknown; readonly config: unknown } | undefined;
  /** Its tasks that are not over, or have descendants that are not. */
  readonly live: Set<LiveTask>;
  /** Why none of its loops may go on: the tree is left to another start. */
  halted: TuttiError | undefined;
  /** Those of its tasks that wait for a runner which this machine does not have. */
  missing: Map<LiveTask, string> | undefined;
  /** A step that may not be repeated has begun in this process: what it did may be on this machine. */
  begunHere: boolean;
  /** It is here to be asked, told and canceled; none of its loops begins here. */
  onlyVisited: boolean;
  /** Loops of its tasks that have not returned. */
  loops: number;
  /** Steps that are under way or about to begin. */
  steps: number;
  /** Called when the last of them has ended, before the loop that waited for it goes on. */
  onIdle: (() => void) | undefined;
  /** Called when the last loop returns. */
  onLoopsReturned: (() => void) | undefined;
  /** The runners that are resolved for this tree, once a task needed one. */
  runners: Promise<RunnerRegistry> | undefined;
  /** Called once when none of its tasks is live here any more. */
  onOver: (() => void) | undefined;
  /** Its working time counts from here. */
  startedAt: number;
  /** The budget ask that is open: one at a time, everybody who hit a limit waits for it. */
  budgetAsk: Promise<void> | undefined;
  /** Set when a person refused to raise a limit: no more work that needs it is begun. */
  exhausted: TuttiError | undefined;
  /** A person agreed to calls whose price is not known. */
  unpriced: boolean;
}

/** The limit of an account is held in the one above it, all of it, so that no sum of them passes the root's. */
export type Accounts = { readonly [K in AccountKind]?: Account };

interface Resume {
  /** How often in a row the task was under way when the process ended, this time included once it runs. */
  count: number;
  /** Its loop was begun in this process, so the count is on disk. */
  counted: boolean;
  /** The process ended inside one of its steps: the next step may end it again, whatever is recorded in between. */
  diedInStep: boolean;
}

type Joiner = (result: AgentResult) => void;

export interface LiveTask {
  readonly id: number;
  readonly name: string;
  readonly parent: LiveTask | undefined;
  readonly tree: Tree;
  readonly depth: number;
  /** Of the runner of its current run. */
  kind: string;
  /** Row of its current run. */
  run: number;
  /** Made in this process and begun at most once, so nothing can be recorded under the keys of its first run. */
  fresh: boolean;
  /** What was recorded with it, until its loop begins, so that it is not read back at once; a long one is not held. */
  recorded: { readonly body: string; readonly shared: number | null } | undefined;
  /** Set while it counts as resumed: it was taken over from an earlier process and has not got any further. */
  resume: Resume | undefined;
  readonly createdAt: number;
  readonly deadline: number | null;
  agent: string;
  rights: Rights;
  /** Moved by events alone; see `Recorder`. */
  status: TaskStatus;
  /** Its own where something was carved out for it; for the rest it draws on the nearest above. A root has all. */
  accounts: Accounts | undefined;
  result: AgentResult | undefined;
  /** Children that are not over, or have descendants that are not. */
  children: Set<LiveTask> | undefined;
  /** Called once when the result is there. */
  joiners: Joiner[] | undefined;
  /** Called once when it and all below it are over. */
  onSettled: Set<() => void> | undefined;
  /** A loop of it has not returned. */
  running: boolean;
  /** Called once when the loop that runs has returned. */
  onReturned?: Set<() => void> | undefined;
  /** Ends the loop, or the wait for a slot. */
  stop: ((reason: unknown) => void) | undefined;
  /** Wakes whoever waits for mail. */
  onMail: Set<() => void> | undefined;
  /** How much people and programs have sent to it; undefined before the first message in this process. */
  messaged?: Quota;
  /** The last message a run has recorded as taken, once somebody looked. */
  mailTaken: number | undefined;
  /** Waits that are open. */
  waits: Set<number> | undefined;
  /** Asks of its own that are open; while there is one its status is `input_required`. */
  openAsks: number;
  /** Reasons for which its clock stands still: asks open in its subtree, and a pause of everything. */
  clockStops: number;
  stoppedSince: number;
  /** How long its clock has stood still in all: that time does not count. */
  stoppedFor: number;
  callOffDeadline: (() => void) | undefined;
}

type Known = Pick<
  LiveTask,
  "run" | "fresh" | "id" | "name" | "parent" | "tree" | "kind" | "agent" | "rights" | "createdAt" | "deadline"
>;

export function liveTask(known: Known): LiveTask {
  const { id, name, parent, tree, kind, run, fresh, createdAt, deadline, agent, rights } = known;
  // Field by field: a copy of `known` with more added to it would take half as much memory again, for every task.
  const task: LiveTask = {
    id,
    name,
    parent,
    tree,
    kind,
    run,
    fresh,
    createdAt,
    deadline,
    agent,
    rights,
    depth: known.parent === undefined ? 0 : known.parent.depth + 1,
    status: "pending",
    accounts: undefined,
    result: undefined,
    children: undefined,
    joiners: undefined,
    onSettled: undefined,
    recorded: undefined,
    resume: undefined,
    running: false,
    stop: undefined,
    onMail: undefined,
    mailTaken: undefined,
    waits: undefined,
    openAsks: 0,
    clockStops: 0,
    stoppedSince: 0,
    stoppedFor: 0,
    callOffDeadline: undefined,
  };
  if (known.parent !== undefined) (known.parent.children ??= new Set()).add(task);
  return task;
}

/** Calls back once with the result of a task that is not over; returns how to stop that. */
export function onResult(task: LiveTask, join: Joiner): () => void {
  (task.joiners ??= []).push(join);
  return () => {
    const at = task.joiners?.indexOf(join) ?? -1;
    if (at >= 0) task.joiners?.splice(at, 1);
  };
}

/** An ask opened (1) or closed (-1) in this task: its clock and those above it stand still while any is open. */
export function countAsk(task: LiveTask, change: 1 | -1, now: number): void {
  for (let at: LiveTask | undefined = task; at !== undefined; at = at.parent) stopClock(at, change, now);
}

/** One more reason (1) or one less (-1) for which this task's clock stands still. */
export function stopClock(task: LiveTask, change: 1 | -1, now: number): void {
  if (task.clockStops === 0) task.stoppedSince = now;
  task.clockStops += change;
  if (task.clockStops === 0) task.stoppedFor += now - task.stoppedSince;
}

/** How long the task's clock has stood still until now. */
export function stoppedTime(task: LiveTask, now: number): number {
  return task.stoppedFor + (task.clockStops > 0 ? now - task.stoppedSince : 0);
}

export function newTree(of: Pick<Tree, "root" | "budget" | "tasks" | "startedAt">, slots: Slots): Tree {
  const tree: Tree = {
    ...of,
    slots: slots.queue(() => tree.budget.concurrency),
    rootRecord: undefined,
    live: new Set(),
    halted: undefined,
    missing: undefined,
    begunHere: false,
    onlyVisited: false,
    loops: 0,
    steps: 0,
    onIdle: undefined,
    onLoopsReturned: undefined,
    onOver: undefined,
    runners: undefined,
    budgetAsk: undefined,
    exhausted: undefined,
    unpriced: false,
  };
  return tree;
}
