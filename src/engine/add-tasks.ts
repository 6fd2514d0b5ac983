// Makes tasks: a root task with its tree, or the children of a task, all of them or none.

import { narrow, type Rights } from "../core/rights.ts";
import { TuttiError } from "../protocol/error.ts";
import type { NewTask } from "../ports.ts";
import { allot } from "./allotment.ts";
import { watchDeadline } from "./end-task.ts";
import type { EngineParts } from "./engine-parts.ts";
import { liveTask, type LiveTask, newTree, stoppedTime, type Tree } from "./live-task.ts";
import { taskName } from "../store/names.ts";
import { rootAccounts, rootBudget } from "./payer.ts";
import type { TaskBody } from "./task-body.ts";

/** Characters of a task's record that are held in memory until it runs. */
const heldRecord = 1_000;

/** `isPlaced`: somebody else sees to it that the tree goes where its runner is. */
export function addRoot(parts: EngineParts, task: NewTask, isPlaced = false): LiveTask {
  if (!isPlaced) parts.runners.check(task.runner.kind);
  const budget = rootBudget(task.budget ?? {});
  const tree = newTree({ root: 0, budget, tasks: 1, startedAt: parts.clock.now() }, parts.slots);
  const made = add(parts, task, { parent: undefined, tree, rights: task.rights, shared: null });
  made.accounts = rootAccounts(budget);
  return made;
}

/** Checks and counts all children before any is recorded. `keepShared` records what they share, once they may exist. */
export function addChildren(
  parts: EngineParts,
  parent: LiveTask,
  children: readonly NewTask[],
  keepShared: () => number | null,
): LiveTask[] {
  const { tree } = parent;
  if (parent.depth + 1 > tree.budget.depth) {
    throw new TuttiError("refused", `tasks may be nested ${tree.budget.depth} levels deep; do the work here instead`);
  }
  const rights = children.map((child) => {
    parts.runners.check(child.runner.kind);
    const narrowed = narrow(parent.rights, child.rights);
    if (!narrowed.ok) throw new TuttiError("refused", narrowed.message);
    return narrowed.rights;
  });
  const accounts = allot(
    parent,
    children.map((child) => child.budget),
  );
  tree.tasks += children.length;
  const shared = keepShared();
  return children.map((child, index) => {
    const task = add(parts, child, { parent, tree, rights: rights[index] ?? child.rights, shared });
    task.accounts = accounts[index];
    return task;
  });
}

interface Position {
  readonly parent: LiveTask | undefined;
  readonly tree: Tree;
  readonly rights: Rights;
  readonly shared: number | null;
}

function add(parts: EngineParts, task: NewTask, { parent, tree, rights, shared }: Position): LiveTask {
  const { store, recorder } = parts;
  const { kind, config } = task.runner;
  const createdAt = parts.clock.now();
  // The time people were asked above has moved the parent's end; a child made after that must not have the old one.
  const above = parent?.deadline ?? null;
  const deadline = earliest(
    task.deadline,
    parent === undefined || above === null ? null : above + stoppedTime(parent, createdAt),
  );
  const input = recorder.cleanValue(task.input) ?? null;
  const recorded: TaskBody = { input, config: config ?? {}, rights, budget: task.budget ?? null };
  const body = JSON.stringify(recorded);
  const id = store.addTask({
    parent: parent?.id ?? null,
    root: parent === undefined ? null : tree.root,
    depth: parent === undefined ? 0 : parent.depth + 1,
    kind,
    agent: task.agent,
    detached: task.detached === true,
    created_at: createdAt,
    deadline,
    shared,
    body,
  });
  if (parent === undefined) tree.root = id;
  const name = taskName(store.salt, id);
  const run = store.addRun({ task: id, attempt: 1, run: 1, body: null });
  const made = liveTask({
    id,
    name,
    run,
    fresh: true,
    parent,
    tree,
    kind,
    agent: task.agent,
    rights,
    createdAt,
    deadline,
  });
  if (body.length <= heldRecord) made.recorded = { body, shared };
  parts.pause.madeMeanwhile(made);
  parts.tasks.add(made);
  watchDeadline(parts, made);
  recorder.emit(made, "task.created");
  return made;
}

function earliest(a: number | undefined, b: number | null): number | null {
  if (a === undefined) return b;
  return b === null ? a : Math.min(a, b);
}
