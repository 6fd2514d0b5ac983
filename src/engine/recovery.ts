// What a process finds of a tree in the store when it takes it over: its tasks, what they spent, waited for and left under way.

import { accountKinds, hold, newAccount, raise, settle } from "../core/account.ts";
import { isLifeEvent, nextStatus } from "../core/task-state.ts";
import { dayCapLabel } from "../core/day-question.ts";
import { TuttiError } from "../protocol/error.ts";
import type { TaskStatus } from "../protocol/task/task-status.ts";
import type { AnswerRow, EventType, TaskRow } from "../store/store.ts";
import { applyAnswer, LimitReached } from "./budget-gate.ts";
import type { EngineParts } from "./engine-parts.ts";
import { countAsk, liveTask, type LiveTask, newTree, stopClock, type Tree } from "./live-task.ts";
import { askName, taskName } from "../store/names.ts";
import { resultIn } from "./outcome.ts";
import { clockStops, pausesIn } from "./pause-switch.ts";
import { payer, payerAbove, rootAccounts, rootBudget } from "./payer.ts";
import { runBodyIn, type TaskBody, taskBodyIn } from "./task-body.ts";
import { answerIn, type WaitBody, waitBodyIn } from "./wait-body.ts";

export interface RecoveredTree {
  /** All that are in memory now: those that are not over, and what stands above them. Parents first. */
  readonly tasks: readonly LiveTask[];
  /** What interrupted steps noted; whatever it names has to be ended before the tasks go on. */
  readonly notes: readonly unknown[];
}

/** `downSince`: when somebody last worked on the tree. The time from then until now counts against nobody. */
export function recoverTree(parts: EngineParts, root: number, downSince: number): RecoveredTree {
  const { store } = parts;
  const known = new Map<number, LiveTask>();
  for (const row of store.openTasks(root)) {
    const task = taskOf(parts, row, known);
    known.set(row.id, task);
    const result = store.result(row.id);
    task.status = statusAfter(store.lifeEvents(row.id), task.name);
    if (result !== undefined) task.result = resultIn(result, task.name);
  }
  const first = known.get(root);
  try {
    if (first !== undefined) restoreTree(parts, { root: first, known, downSince });
  } catch (thrown) {
    // Timers of waits that were found before would settle them.
    for (const task of known.values()) parts.waits.release(task);
    throw thrown;
  }
  return { tasks: [...known.values()], notes: store.openNotes(root).map((note): unknown => JSON.parse(note)) };
}

/** Folds a task's events, the same way their recording moved its status (invariant 2). */
function statusAfter(events: readonly EventType[], name: string): TaskStatus {
  let status: TaskStatus = "pending";
  for (const event of events) {
    if (!isLifeEvent(event)) continue;
    const moved = nextStatus(status, event);
    if (!moved.ok)
      throw new TuttiError("corrupt", `the events of ${name} do not follow from each other: ${moved.reason}`);
    ({ status } = moved);
  }
  return status;
}

/** Versions before this one told of an open ask only while its task waited on it: their tasks are brought in line. */
export function alignStatus({ recorder, store, waits }: EngineParts, task: LiveTask): void {
  if (task.result !== undefined) return;
  const asked = [...(task.waits ?? [])].find((id) => waits.get(id)?.body.ask !== undefined);
  if (asked !== undefined && task.status === "running") {
    recorder.emit(task, "task.input_required", { ask: askName(store.salt, asked) });
  }
  if (task.openAsks === 0 && task.status === "input_required") recorder.emit(task, "task.resumed");
}

function taskOf(parts: EngineParts, row: TaskRow, known: ReadonlyMap<number, LiveTask>): LiveTask {
  const { store } = parts;
  const body = taskBodyIn(row.body);
  const parent = row.parent === null ? undefined : known.get(row.parent);
  const run = store.lastRun(row.id);
  const runBody = runBodyIn(run?.body ?? null);
  const task = liveTask({
    id: row.id,
    name: taskName(store.salt, row.id),
    run: run?.id ?? 0,
    fresh: false,
    parent,
    tree: parent?.tree ?? treeOf(parts, row, body),
    kind: runBody?.runner?.kind ?? row.kind,
    agent: runBody?.agent ?? row.agent,
    rights: body.rights,
    createdAt: row.created_at,
    deadline: row.deadline,
  });
  if (parent === undefined) task.accounts = rootAccounts(task.tree.budget);
  else {
    for (const kind of accountKinds) {
      const limit = body.budget?.[kind];
      if (limit !== undefined) task.accounts = { ...task.accounts, [kind]: newAccount(limit) };
    }
  }
  return task;
}

function treeOf({ store, slots }: EngineParts, row: TaskRow, body: TaskBody): Tree {
  const tasks = store.tree(row.id).length;
  // The time in which it was queued behind what was said before it does not count.
  const isQueued = (store.threadEntryOf(row.id)?.position ?? 1) > 1;
  const startedAt = (isQueued ? store.startedAt(row.id) : undefined) ?? row.created_at;
  return newTree({ root: row.id, budget: rootBudget(body.budget ?? {}), tasks, startedAt }, slots);
}

interface FoundTree {
  readonly root: LiveTask;
  readonly known: ReadonlyMap<number, LiveTask>;
  readonly downSince: number;
}

/** Spending, raised limits, open waits and the time people were asked, as they were when the process ended. */
function restoreTree(parts: EngineParts, { root, known, downSince }: FoundTree): void {
  const { store, clock, waits } = parts;
  const parents = new Map(store.tree(root.id).map((row) => [row.id, row.parent]));
  const nearest = (id: number): LiveTask => {
    for (let at: number | null | undefined = id; at !== null && at !== undefined; at = parents.get(at)) {
      const task = known.get(at);
      if (task !== undefined) return task;
    }
    return root;
  };
  for (const { task, tokens, money } of store.spentOf(root.id)) {
    const used = { tokens, money_micro_usd: money };
    for (const kind of accountKinds) {
      const from = payer(nearest(task), kind);
      from.set(settle(from.account, 0, used[kind]));
    }
  }
  holdAllotments([...known.values()].filter((task) => task.parent !== undefined));
  const decisions: Decision[] = [];
  const clockMoves: { at: number; move: () => void }[] = [];
  for (const wait of store.waitsOf(root.id)) {
    const task = nearest(wait.task);
    const answer = store.answer(wait.id);
    if (answer === undefined) waits.adopt(wait, task);
    if (wait.ask === null && waitBodyIn(wait).label !== dayCapLabel) continue;
    clockMoves.push({ at: wait.raised_at, move: () => countAsk(task, 1, wait.raised_at) });
    if (answer === undefined) continue;
    clockMoves.push({ at: answer.at, move: () => countAsk(task, -1, answer.at) });
    if (wait.ask === "budget") decisions.push(...decisionIn(waitBodyIn(wait), task, answer));
  }
  applyDecisions(decisions, known);
  const pauses = pausesIn(store);
  for (const task of known.values()) {
    for (const { at, change } of clockStops(pauses, task.createdAt)) {
      clockMoves.push({ at, move: () => stopClock(task, change, at) });
    }
  }
  for (const { move } of clockMoves.toSorted((a, b) => a.at - b.at)) move();
  // Nobody worked while no process ran: that time does not count either, unless an open ask has stopped the clock already.
  const lastSeen = Math.max(downSince, pauses.past.at(-1)?.[1] ?? 0);
  const down = Math.max(0, clock.now() - lastSeen);
  for (const task of known.values()) if (task.clockStops === 0) task.stoppedFor += down;
}

/** Deepest first, so that what a carve-out holds for one below it is known when it is held itself. */
function holdAllotments(tasks: readonly LiveTask[]): void {
  for (const task of tasks.toReversed()) {
    for (const kind of accountKinds) {
      if (task.accounts?.[kind] === undefined) continue;
      const own = payer(task, kind);
      // What was spent was allowed, by a raise perhaps that is found later.
      own.set(raise(own.account, own.account.spent + own.account.held));
      const above = payerAbove(own, kind);
      above?.set(hold(above.account, payer(task, kind).account.limit));
    }
  }
}

interface Decision {
  readonly task: LiveTask;
  readonly reached: LimitReached;
  readonly answer: AnswerRow;
}

function decisionIn({ ask }: WaitBody, task: LiveTask, answer: AnswerRow): Decision[] {
  if (ask?.kind !== "budget" || answer.kind === "withdrawn") return [];
  const reached = LimitReached.safeParse(ask.details);
  return reached.success ? [{ task, reached: reached.data, answer }] : [];
}

/** Raises and refusals as they were made; from the root down, since a carve-out only grows into what is left above. */
function applyDecisions(decisions: readonly Decision[], known: ReadonlyMap<number, LiveTask>): void {
  const depths = new Map([...known.values()].map((task) => [task.name, task.depth]));
  const depthOf = ({ reached }: Decision): number =>
    reached.account === undefined ? 0 : (depths.get(reached.account) ?? 0);
  for (const { task, reached, answer } of decisions.toSorted((a, b) => depthOf(a) - depthOf(b))) {
    applyAnswer(task, reached, answerIn(answer));
  }
}
