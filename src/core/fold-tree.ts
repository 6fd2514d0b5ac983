// A task and all below it as their events tell it: the tree, what it used, what it asks, how it ended.

import type { OpenAsk, OpenWait } from "../protocol/api/task-shapes.ts";
import type { AskId, TaskId } from "../protocol/ids.ts";
import type { AgentResult } from "../protocol/invocation/invocation-result.ts";
import { dayCapLabel } from "./day-question.ts";
import { isOperatorLabel } from "../protocol/operator/operator-waits.ts";
import type { TaskEvent } from "../protocol/task/event.ts";
import { isTerminal } from "../protocol/task/task-status.ts";
import type { TaskView } from "../protocol/task/task-view.ts";
import type { ModelWait } from "../protocol/task/model-wait.ts";
import { endsWaiting } from "./model-waiting.ts";
import { isLifeEvent, nextStatus } from "./task-state.ts";

export interface FoldedTree {
  /** The task at the top; all others are below it. */
  readonly task: TaskId;
  /** Parents before their children. */
  readonly tasks: Map<TaskId, TaskView>;
  /** How many of the tasks have not ended. */
  unfinished: number;
  /** How the task at the top ended; undefined before that. */
  result: AgentResult | undefined;
  /** What waits for an answer, the oldest first. Requests to operators are not among them. */
  readonly open: Map<AskId, OpenAsk | OpenWait>;
  /** Everything that was ever asked, since an answer that turns out not to fit reopens it. */
  readonly asked: Map<AskId, OpenAsk | OpenWait>;
  tokens: number;
  money_micro_usd: number;
  /** The price of at least one call is not known, so the money is too little. */
  unpriced: boolean;
  /** At least one reply was played from a script. */
  rehearsal: boolean;
  /** At least one model was called, or a session of an agent with models of its own was started. */
  called: boolean;
  /** What tasks wait for whose model has to be called again. */
  readonly waiting: Map<TaskId, ModelWait>;
  /** The sequence of the last event that was folded. */
  seq: number;
}

export function emptyTree(task: TaskId): FoldedTree {
  return {
    task,
    tasks: new Map(),
    unfinished: 0,
    result: undefined,
    open: new Map(),
    asked: new Map(),
    tokens: 0,
    money_micro_usd: 0,
    unpriced: false,
    rehearsal: false,
    called: false,
    waiting: new Map(),
    seq: 0,
  };
}

/** True when the task at the top and all below it have ended. */
export function isSettled({ tasks, unfinished }: FoldedTree): boolean {
  return tasks.size > 0 && unfinished === 0;
}

/**
 * Takes one event into the tree and returns the tree. Events come in the order of their sequence; one that was folded
 * before changes nothing. The tree is changed in place, so that an event costs the same however large the tree is.
 */
export function foldTree(tree: FoldedTree, event: TaskEvent): FoldedTree {
  if (event.seq <= tree.seq) return tree;
  tree.seq = event.seq;
  const before = tree.tasks.get(event.task);
  if (before === undefined) {
    if (event.type === "task.created") addTask(tree, event);
    return tree;
  }
  const after = changedTask(before, event);
  tree.tasks.set(event.task, after);
  tree.tokens += after.tokens - before.tokens;
  tree.money_micro_usd += after.money_micro_usd - before.money_micro_usd;
  // A terminal status never changes, so a task ends once.
  if (after.status !== before.status && isTerminal(after.status)) {
    tree.unfinished -= 1;
    if (event.task === tree.task) tree.result = resultOf(event, after);
  }
  if (event.type === "model.waiting") tree.waiting.set(event.task, event.data);
  else if (endsWaiting(event)) tree.waiting.delete(event.task);
  noteCost(tree, event);
  noteAsk(tree, event);
  return tree;
}

function addTask(tree: FoldedTree, event: Extract<TaskEvent, { type: "task.created" }>): void {
  const { parent, depth, agent, runner, detached } = event.data;
  tree.unfinished += 1;
  tree.tasks.set(event.task, {
    id: event.task,
    parent,
    root: event.root,
    depth,
    agent,
    runner,
    detached,
    status: "pending",
    attempt: event.attempt ?? 1,
    run: event.run ?? 1,
    created_at: event.at,
    ended_at: null,
    steps: 0,
    tokens: 0,
    money_micro_usd: 0,
    result: null,
  });
}

function changedTask(before: TaskView, event: TaskEvent): TaskView {
  const view = inLatestRun(before, event);
  if (isLifeEvent(event.type)) {
    const next = nextStatus(before.status, event.type);
    if (!next.ok) return view;
    const ended = isTerminal(next.status) ? { ended_at: event.at, result: endOf(event) } : {};
    return { ...view, status: next.status, ...ended };
  }
  switch (event.type) {
    case "step.finished":
      return withUse(view, { steps: 1, tokens: event.data.tokens, money: event.data.money_micro_usd });
    case "message.added": {
      const { step } = event.data;
      if (step === undefined) return view;
      return withUse(view, { steps: 1, tokens: step.tokens, money: step.money_micro_usd ?? 0 });
    }
    case "budget.settled": {
      const { input_tokens, output_tokens, money_micro_usd } = event.data.spent;
      return withUse(view, { steps: 0, tokens: input_tokens + output_tokens, money: money_micro_usd ?? 0 });
    }
    default:
      return view;
  }
}

/** What a run that was ended still used can be recorded after the next run has begun. */
function inLatestRun(view: TaskView, { attempt = view.attempt, run = view.run }: TaskEvent): TaskView {
  const later = attempt > view.attempt || (attempt === view.attempt && run > view.run);
  return later ? { ...view, attempt, run } : view;
}

function withUse(
  view: TaskView,
  used: { readonly steps: number; readonly tokens: number; readonly money: number },
): TaskView {
  return {
    ...view,
    steps: view.steps + used.steps,
    tokens: view.tokens + used.tokens,
    money_micro_usd: view.money_micro_usd + used.money,
  };
}

/** What a task ended with, as a view shows it: its content, the error's message, or why it was canceled. */
function endOf({ type, data }: TaskEvent): unknown {
  if (type === "task.completed") return data.content ?? null;
  if (type === "task.failed") return data.error.message;
  return type === "task.canceled" ? data.reason : null;
}

/** A result has the whole error, where a view has its message. */
function resultOf({ type, data }: TaskEvent, { id, status, result }: TaskView): AgentResult {
  const content = type === "task.failed" ? (data.content ?? data.error) : result;
  return { content, task_id: id, status };
}

function noteCost(tree: FoldedTree, { type, data }: TaskEvent): void {
  if (type === "budget.settled" && data.spent.money_micro_usd === null) tree.unpriced = true;
  if (type === "session.started" || type === "model.waiting") tree.called = true;
  if (type !== "message.added") return;
  if (data.message.name === "rehearsal") tree.rehearsal = true;
  else if (data.message.role === "assistant" && data.step !== undefined) tree.called = true;
  if (data.step?.money_micro_usd === null) tree.unpriced = true;
}

function noteAsk(tree: FoldedTree, event: TaskEvent): void {
  switch (event.type) {
    case "ask.raised":
      if (event.data.ask.status === "open") raise(tree, event.data.ask);
      return;
    case "wait.opened": {
      const { wait: id, ...rest } = event.data;
      // Nobody settles it: the question about the cap is an ask of one task.
      if (rest.label === dayCapLabel) return;
      if (!isOperatorLabel(rest.label)) raise(tree, { id, task: event.task, root: event.root, ...rest });
      return;
    }
    case "ask.reopened":
    case "wait.reopened": {
      const again = tree.asked.get("ask" in event.data ? event.data.ask : event.data.wait);
      if (again !== undefined) tree.open.set(again.id, again);
      return;
    }
    case "ask.answered":
    case "ask.expired":
    case "ask.withdrawn":
      tree.open.delete(event.data.ask);
      return;
    case "wait.settled":
      tree.open.delete(event.data.wait);
      return;
    default:
      return;
  }
}

function raise(tree: FoldedTree, ask: OpenAsk | OpenWait): void {
  tree.asked.set(ask.id, ask);
  tree.open.set(ask.id, ask);
}
