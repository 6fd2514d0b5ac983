// What a start finds in the store: the tasks that are not over, what they spent, waited for and left under way.

import { accountKinds, hold, newAccount, raise, settle } from "../core/account.ts";
import { applyAnswer, LimitReached } from "./budget-gate.ts";
import type { Kernel } from "./kernel.ts";
import {
  countAsk,
  liveTask,
  type LiveTask,
  payer,
  payerAbove,
  rootAccounts,
  rootBudget,
  stopClock,
  type Tree,
} from "./live.ts";
import { taskName } from "./names.ts";
import type { TaskStatus } from "../protocol/task/task-status.ts";
import { resultIn } from "./outcome.ts";
import { clockStops, pausesIn } from "./pause-switch.ts";
import type { AnswerRow, TaskRow } from "../store/store.ts";
import { TaskBody } from "./task-body.ts";
import { answerIn, type WaitBody } from "./waits.ts";

export interface Recovered {
  /** Not over, parents first. */
  readonly tasks: readonly LiveTask[];
  /** What interrupted steps noted; whatever it names has to be ended before the tasks go on. */
  readonly notes: readonly unknown[];
}

/** Begins the claim of a sleep or a select, which holds a time and is no note of a step: no JSON begins so. */
export const dueMark = "@";

export function recover(kernel: Kernel, adopt: (task: LiveTask) => void): Recovered {
  const { store } = kernel;
  const known = new Map<number, LiveTask>();
  const tasks: LiveTask[] = [];
  for (const row of store.openTasks()) {
    const task = placed(kernel, row, known);
    known.set(row.id, task);
    const result = store.result(row.id);
    if (result === undefined) {
      tasks.push(task);
      task.status = statusAfter(store.lastLife(row.id));
    } else {
      task.status = result.status;
      task.result = resultIn(result, task.name);
    }
  }
  for (const root of [...known.values()].filter((task) => task.parent === undefined)) restoreTree(kernel, root, known);
  for (const task of known.values()) adopt(task);
  return { tasks, notes: store.openNotes().map((note): unknown => JSON.parse(note)) };
}

/** What its events say it was doing when the process ended. */
function statusAfter(lastLife: string | undefined): TaskStatus {
  if (lastLife === undefined || lastLife === "task.created") return "pending";
  return lastLife === "task.input_required" ? "input_required" : "running";
}

function placed(kernel: Kernel, row: TaskRow, known: ReadonlyMap<number, LiveTask>): LiveTask {
  const { store } = kernel;
  const body = TaskBody.parse(JSON.parse(row.body));
  const parent = row.parent === null ? undefined : known.get(row.parent);
  const task = liveTask({
    id: row.id,
    name: taskName(store.salt, row.id),
    run: store.lastRun(row.id)?.id ?? 0,
    fresh: false,
    parent,
    tree: parent?.tree ?? newTree(kernel, row, body),
    kind: row.kind,
    agent: row.agent,
    rights: body.rights,
    createdAt: row.created_at,
    deadline: row.deadline,
  });
  const { budget } = body;
  if (parent === undefined) task.accounts = rootAccounts(task.tree.budget);
  else {
    for (const kind of accountKinds) {
      const limit = budget?.[kind];
      if (limit !== undefined) task.accounts = { ...task.accounts, [kind]: newAccount(limit) };
    }
  }
  return task;
}

function newTree(kernel: Kernel, row: TaskRow, body: TaskBody): Tree {
  const tree: Tree = {
    root: row.id,
    budget: rootBudget(body.budget ?? {}),
    tasks: kernel.store.tree(row.id).length,
    slots: kernel.slots.queue(() => tree.budget.concurrency),
    given: undefined,
    startedAt: row.created_at,
    budgetAsk: undefined,
    exhausted: undefined,
    unpriced: false,
  };
  return tree;
}

/** Spending, raised limits, open waits and the time people were asked, as they were when the process ended. */
function restoreTree(kernel: Kernel, root: LiveTask, known: ReadonlyMap<number, LiveTask>): void {
  const { store, clock } = kernel;
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
  holdAllotments([...known.values()].filter((task) => task.tree === root.tree && task.parent !== undefined));
  const decisions: Decision[] = [];
  const clockMoves: { at: number; move: () => void }[] = [];
  for (const wait of store.waitsOf(root.id)) {
    const task = nearest(wait.task);
    const answer = store.answer(wait.id);
    if (answer === undefined) kernel.waits.adopt(wait, task);
    const body: WaitBody = JSON.parse(wait.body);
    if (body.ask === undefined) continue;
    clockMoves.push({ at: wait.raised_at, move: () => countAsk(task, 1, wait.raised_at) });
    if (answer === undefined) continue;
    clockMoves.push({ at: answer.at, move: () => countAsk(task, -1, answer.at) });
    decisions.push(...decisionIn(body, task, answer));
  }
  applyDecisions(decisions, known);
  const pauses = pausesIn(store);
  for (const task of known.values()) {
    if (task.tree !== root.tree) continue;
    for (const { at, change } of clockStops(pauses, task.createdAt)) {
      clockMoves.push({ at, move: () => stopClock(task, change, at) });
    }
  }
  for (const { move } of clockMoves.toSorted((a, b) => a.at - b.at)) move();
  // Nobody worked while no process ran: that time does not count either, unless an open ask has stopped the clock already.
  const lastSeen = Math.max(store.lastEventAt(null) ?? clock.now(), pauses.past.at(-1)?.[1] ?? 0);
  const down = Math.max(0, clock.now() - lastSeen);
  for (const task of known.values()) if (task.tree === root.tree && task.asks === 0) task.askedFor += down;
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
