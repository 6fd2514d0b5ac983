// The tasks of a tree as a page keeps them: a snapshot of the service, changed by every later event exactly once.

import type { TaskEvent, TaskId, TaskSummary } from "../../../src/client/index.ts";
import { isWithinCheck, startedCheckText } from "../../../src/protocol/index.ts";

export interface LiveTask extends TaskSummary {
  /** The `runner:model` that the newest route gave the task; absent until one is known. */
  readonly worker?: string;
  /** The run of a check that is under way. */
  readonly checking?: string | undefined;
  /** What the task was asked, where an event told it. */
  readonly prompt?: string;
  readonly last_event_at: number;
}

export interface LiveTree {
  readonly root: TaskId;
  /** Parents before their children. The map is changed in place and its tasks are replaced, so a page compares tasks. */
  readonly tasks: Map<TaskId, LiveTask>;
  /** Tasks whose use is not certain, since events came while the snapshot was read. They are read again, one by one. */
  readonly uncertain: Set<TaskId>;
  /** Events up to this one are in the numbers of every task that is not uncertain. */
  readonly countedTo: number;
  /** The last event that was folded. */
  readonly seq: number;
  readonly unfinished: number;
  readonly tokens: number;
  readonly money_micro_usd: number;
  /** Changes when tasks were added: only then a graph is laid out again. */
  readonly shape: number;
}

/** `from`: the last event before the snapshot was asked for. `to`: the last event when it had been read. */
export interface SnapshotSpan {
  readonly from: number;
  readonly to: number;
}

export function treeFrom(root: TaskId, snapshot: readonly TaskSummary[], { from, to }: SnapshotSpan): LiveTree {
  const tasks = new Map(
    snapshot.map((task): [TaskId, LiveTask] => [task.id, { ...task, last_event_at: task.ended_at ?? task.created_at }]),
  );
  return withSums({
    root,
    tasks,
    uncertain: new Set(),
    countedTo: to,
    seq: from,
    unfinished: 0,
    tokens: 0,
    money_micro_usd: 0,
    shape: 1,
  });
}

function withSums(tree: LiveTree): LiveTree {
  let [unfinished, tokens, money_micro_usd] = [0, 0, 0];
  for (const task of tree.tasks.values()) {
    if (task.ended_at === null) unfinished += 1;
    tokens += task.tokens;
    money_micro_usd += task.money_micro_usd;
  }
  return { ...tree, unfinished, tokens, money_micro_usd };
}

/** Takes events in the order of their sequence. An event that was folded before changes nothing (invariant 9). */
export function foldTasks(before: LiveTree, events: readonly TaskEvent[]): LiveTree {
  const tree = { ...before };
  let changed = false;
  for (const event of events) {
    if (event.seq <= tree.seq) continue;
    tree.seq = event.seq;
    if (event.root !== tree.root) continue;
    const task = tree.tasks.get(event.task);
    if (task === undefined) {
      if (event.type !== "task.created" || !isBelow(tree, event.data.parent)) continue;
      tree.tasks.set(event.task, createdTask(event));
      tree.unfinished += 1;
      tree.shape += 1;
      changed = true;
      continue;
    }
    const counts = event.seq > tree.countedTo;
    const after = foldTask(task, event, counts);
    if (!counts && useOf(event) !== undefined) tree.uncertain.add(task.id);
    if (after === task) continue;
    changed = true;
    tree.tasks.set(task.id, after);
    tree.tokens += after.tokens - task.tokens;
    tree.money_micro_usd += after.money_micro_usd - task.money_micro_usd;
    if (task.ended_at === null && after.ended_at !== null) tree.unfinished -= 1;
  }
  if (changed) return tree;
  // Nothing that is shown has changed, so nothing is drawn again.
  return tree.seq === before.seq ? before : Object.assign(before, { seq: tree.seq });
}

/** A snapshot may be of a task in the middle of a tree: tasks beside it do not belong to it. */
function isBelow({ tasks }: LiveTree, parent: TaskId | null): boolean {
  return parent !== null && tasks.has(parent);
}

function createdTask(event: Extract<TaskEvent, { type: "task.created" }>): LiveTask {
  const { agent, runner, parent, depth, detached, prompt } = event.data;
  return {
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
    result_preview: null,
    last_event_at: event.at,
    ...(prompt === undefined ? {} : { prompt }),
  };
}

const statusAfter: Partial<Record<TaskEvent["type"], LiveTask["status"]>> = {
  "task.started": "running",
  "task.input_required": "input_required",
  "task.resumed": "running",
  "run.started": "running",
  "task.completed": "completed",
  "task.failed": "failed",
  "task.canceled": "canceled",
};

function foldTask(before: LiveTask, event: TaskEvent, counts: boolean): LiveTask {
  let task: LiveTask = { ...before, last_event_at: Math.max(before.last_event_at, event.at) };
  const { attempt = task.attempt, run = task.run } = event;
  if (attempt > task.attempt || (attempt === task.attempt && run > task.run)) task = { ...task, attempt, run };
  const status = statusAfter[event.type];
  // A terminal status never changes (invariant 2), also when an older event is told again.
  if (status !== undefined && before.ended_at === null) task = { ...task, status };
  if (before.ended_at === null && isEnd(event))
    task = { ...task, ended_at: event.at, result_preview: previewOf(event) };
  if (event.type === "check.started") task = { ...task, checking: startedCheckText(event.data) };
  else if (task.checking !== undefined && !isWithinCheck(event)) task = { ...task, checking: undefined };
  if (event.type === "route.decided") task = { ...task, worker: workerName(event.data) };
  if (event.type === "task.created" && event.data.prompt !== undefined) task = { ...task, prompt: event.data.prompt };
  const use = counts ? useOf(event) : undefined;
  if (use === undefined) return task;
  return {
    ...task,
    steps: task.steps + use.steps,
    tokens: task.tokens + use.tokens,
    money_micro_usd: task.money_micro_usd + use.money,
  };
}

export function workerName({ runner, model }: { readonly runner: string; readonly model: string }): string {
  return runner === "local" || runner === "" ? model : model === "" ? runner : `${runner}:${model}`;
}

type EndEvent = Extract<TaskEvent, { type: "task.completed" | "task.failed" | "task.canceled" }>;

function isEnd(event: TaskEvent): event is EndEvent {
  return event.type === "task.completed" || event.type === "task.failed" || event.type === "task.canceled";
}

function previewOf(event: EndEvent): LiveTask["result_preview"] {
  const value =
    event.type === "task.completed"
      ? event.data.content
      : event.type === "task.failed"
        ? event.data.error.message
        : event.data.reason;
  const text = typeof value === "string" ? value : (JSON.stringify(value) ?? "");
  return { text: text.slice(0, 400), bytes: text.length };
}

interface Use {
  readonly steps: number;
  readonly tokens: number;
  readonly money: number;
}

function useOf({ type, data }: TaskEvent): Use | undefined {
  if (type === "step.finished") return { steps: 1, tokens: data.tokens, money: data.money_micro_usd };
  if (type === "message.added") {
    return data.step && { steps: 1, tokens: data.step.tokens, money: data.step.money_micro_usd ?? 0 };
  }
  if (type !== "budget.settled") return undefined;
  const { input_tokens, output_tokens, money_micro_usd } = data.spent;
  return { steps: 0, tokens: input_tokens + output_tokens, money: money_micro_usd ?? 0 };
}

/**
 * A task that was read again by itself. `use` is sure only when no event of the task's use came while it was read; then the
 * task is certain. Returns the same tree when it is not.
 */
export function settleUncertain(
  tree: LiveTree,
  read: TaskSummary,
  span: SnapshotSpan & { readonly during: readonly TaskEvent[] },
): LiveTree {
  const task = tree.tasks.get(read.id);
  const moved = span.during.some(
    (event) => event.task === read.id && event.seq > span.from && event.seq <= span.to && useOf(event) !== undefined,
  );
  if (task === undefined || moved) return tree;
  // Events after the reading that were folded already are in the old numbers and not in the new ones.
  const later = span.during.filter((event) => event.task === read.id && event.seq > span.to && event.seq <= tree.seq);
  let { steps, tokens, money_micro_usd } = read;
  for (const use of later.map(useOf)) {
    steps += use?.steps ?? 0;
    tokens += use?.tokens ?? 0;
    money_micro_usd += use?.money ?? 0;
  }
  tree.tasks.set(task.id, { ...task, steps, tokens, money_micro_usd });
  tree.uncertain.delete(task.id);
  return withSums(tree);
}
