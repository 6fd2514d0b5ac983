// Does the work of a task again: the next attempt of a task that is not over, or a new tree with the same input.

import { treeFile } from "../../agent/delegation/task-input.ts";
import type { Tutti } from "../../client/client.ts";
import { refusedYes } from "../../core/program-work.ts";
import type { wishesOfGoal } from "../../core/program-wishes.ts";
import { taskBodyIn } from "../../engine/task-body.ts";
import type { NewTask, StartOptions, TaskControl } from "../../ports.ts";
import type { Retried } from "../../protocol/api/task-shapes.ts";
import { TuttiError } from "../../protocol/error.ts";
import type { TaskId } from "../../protocol/ids.ts";
import type { ProgramCaller } from "../../protocol/invocation/by-program.ts";
import { GoalFile } from "../../protocol/invocation/goal-file.ts";
import { parkedLabel, stoppedLabel } from "../../protocol/task/ask.ts";
import { isTerminal } from "../../protocol/task/task-status.ts";
import { checkInvocation } from "../../runner/invocation/check-invocation.ts";
import { idInName, taskName } from "../../store/names.ts";
import type { StoreView } from "../../store/view.ts";
import type { ProjectRuntimes } from "../project/project-runtimes.ts";
import { owner } from "./api-keys.ts";
import { programMark } from "./mark-program.ts";
import { needsOf, threadPlace } from "./start-invocation.ts";

interface RetryDeps {
  readonly view: Pick<StoreView, "salt" | "task" | "taskRow" | "openWaits">;
  readonly tasks: Pick<TaskControl, "start" | "retry" | "startedUnder">;
  readonly runtimes: Pick<ProjectRuntimes, "runtimeOf" | "projectHere">;
}

export function taskRetrier(deps: RetryDeps): Tutti["retry"] {
  /** A second request with the same key waits for the first one, whose key is not on disk yet. */
  const underWay = new Map<string, { readonly task: TaskId; readonly retried: Promise<Retried> }>();
  return async (task, { key, caller = owner, giveUp = false, program } = {}) => {
    if (key === undefined) return retry(deps, task, { giveUp, program });
    // A key of a caller has no blanks in it, so this is no other key.
    const bound = `request ${caller} retry ${key}`;
    const known = await deps.tasks.startedUnder(bound);
    const first = underWay.get(bound);
    if ((first?.task ?? known?.content ?? task) !== task) throw usedForOther();
    if (known !== undefined) return { task: known.task, existed: true };
    if (first !== undefined) return { ...(await first.retried), existed: true };
    const retried = retry(deps, task, { giveUp, program, once: { key: bound, content: task } });
    underWay.set(bound, { task, retried });
    try {
      return await retried;
    } finally {
      underWay.delete(bound);
    }
  };
}

function usedForOther(): TuttiError {
  return new TuttiError("conflict", "this idempotency key was used for another task; use a new key for each retry");
}

interface RetryOptions {
  readonly giveUp: boolean;
  readonly once?: { readonly key: string; readonly content: string };
  readonly program: ProgramCaller | undefined;
}

async function retry(deps: RetryDeps, task: TaskId, { giveUp, once, program }: RetryOptions): Promise<Retried> {
  const { view, tasks } = deps;
  const options = once === undefined ? {} : { once };
  const id = idInName(view.salt, task);
  const row = id === undefined ? undefined : await view.task(id);
  if (row === undefined) throw new TuttiError("not_found", `there is no task ${task}`);
  if (!isTerminal(row.status)) {
    if (!giveUp) {
      const message = `${task} is not over: it is ${row.status}; to give up what it is doing and begin again, say so (\`give_up\`)`;
      throw new TuttiError("conflict", message);
    }
    if (program !== undefined) await mayGoOn(view, row);
    await tasks.retry(task, options);
    return { task, existed: false };
  }
  if (row.parent !== null) {
    const root = taskName(view.salt, row.root);
    const message = `${task} is over, and the task that started it has its result; retry the whole tree, ${root}`;
    throw new TuttiError("conflict", message);
  }
  // A task that is over never changes, so the work is done again by a new tree.
  const [same, place] = await sameTask(deps, row.id, program);
  const { task: made, existed } = await tasks.start(same, { ...options, ...place });
  return { task: made, existed };
}

/**
 * To begin again is a yes to the question with which a stopped or parked task waits, also one below it. In the tree of a program
 * only a person gives it.
 */
async function mayGoOn(
  view: RetryDeps["view"],
  { id, root }: { readonly id: number; readonly root: number },
): Promise<void> {
  const top = await view.taskRow(root);
  const config = top === undefined ? undefined : taskBodyIn(top.body).config;
  const refused = refusedYes(config, "approval", { answer: { kind: "approval", approved: true }, by: ofProgram });
  if (refused === undefined) return;
  for (let after = 0; ;) {
    const { rows, more } = await view.openWaits({ asks: true, below: id, after, limit: 100 });
    if (rows.some(({ label }) => label === stoppedLabel || label === parkedLabel)) {
      throw new TuttiError("refused", `${taskName(view.salt, id)} does not begin again: ${refused}`);
    }
    after = rows.at(-1)?.id ?? after;
    if (!more) return;
  }
}

const ofProgram = { kind: "operator", name: "program" } as const;

/** In a thread, what was said is said again, after what came since. */
async function sameTask(
  { view, runtimes }: RetryDeps,
  id: number,
  program: ProgramCaller | undefined,
): Promise<[NewTask, Pick<StartOptions, "thread" | "needs">]> {
  const row = await view.taskRow(id);
  if (row === undefined) throw new TuttiError("not_found", "the record of the task is gone");
  const { input, config, rights, budget } = taskBodyIn(row.body);
  const file = treeFile(input);
  const project = runtimes.projectHere(config);
  const isGoal = row.kind === "manager";
  const runtime = isGoal && program === undefined ? undefined : await runtimes.runtimeOf(project);
  // Whoever does a program's work again, what the program wanted stays in its mark.
  const mark = programMark(program, isGoal ? { goal: goalAgain(input) } : { file }, {
    project: project ?? "",
    roots: rights.roots,
    isAgreed: project !== undefined && runtime !== undefined,
  });
  const task: NewTask = {
    runner: { kind: row.kind, config: { ...Object(config), ...mark } },
    agent: row.agent,
    input,
    rights,
    budget: Object.fromEntries(Object.entries(budget ?? {}).filter(([, limit]) => limit !== undefined)),
  };
  // The tasks of a goal follow from its manager's decisions, so there is nothing to check beforehand.
  if (isGoal) return [task, needsOf(file)];
  if (runtime !== undefined) checkInvocation(file, task, runtime.environment);
  return [task, { ...threadPlace(file, project ?? ""), ...needsOf(file) }];
}

/** The record does not say who brought the policy; only the default is nobody's. */
function goalAgain(input: unknown): Parameters<typeof wishesOfGoal>[0] {
  const { policy, checks, model } = GoalFile.parse(input).goal;
  return { checks, model, policy: policy?.is_default === false ? policy.text : undefined };
}
