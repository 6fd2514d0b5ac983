// Finds the work of a task that worked on another machine: in the repository here, or at a remote that its branch was pushed to.

import { TuttiError } from "../../protocol/error.ts";
import type { TaskId } from "../../protocol/ids.ts";
import { findRepository, type FinishedWork, hasCommit } from "../../workspace/index.ts";
import { fetchPushed, type RunPersonsProgram } from "./lost-workspace.ts";

/** What a task left, as it was recorded when its work was saved. */
export interface SavedWork {
  readonly attempt: number;
  readonly branch: string | null;
  readonly tip: string | null;
  /** The name of the machine that it is on. */
  readonly machine: string | undefined;
}

export interface LookingElsewhere {
  /** Of whichever machine; undefined when the task saved nothing. */
  readonly savedWork: (task: TaskId) => Promise<SavedWork | undefined>;
  readonly runPersonsProgram: RunPersonsProgram | undefined;
  /** The person's folder. */
  readonly project: string;
}

export interface FoundElsewhere {
  readonly work: FinishedWork;
  /** What a person should know. */
  readonly note: string;
}

/** Throws `outcome_unknown` when nothing here tells what the task did. */
export async function findWorkElsewhere(
  task: TaskId,
  { savedWork, runPersonsProgram, project }: LookingElsewhere,
  signal: AbortSignal,
): Promise<FoundElsewhere> {
  const saved = await savedWork(task);
  if (saved === undefined) throw new TuttiError("not_found", `this task builds on ${task}, which left no work`);
  const { attempt, branch, tip, machine = "another machine" } = saved;
  if (branch === null || tip === null) {
    throw new TuttiError("conflict", `this task builds on ${task}, which has no branch: it worked at ${machine}`);
  }
  const repository = await findRepository(project, signal);
  if (repository === undefined) {
    throw new TuttiError("conflict", `this task builds on ${task}, and ${project} is no git repository here`);
  }
  const found = async (commit: string, where: string): Promise<FoundElsewhere> => ({
    work: { task, attempt, branch, commit },
    note: `${task} worked at ${machine}; its branch ${branch} was found ${where}.`,
  });
  if (await hasCommit(repository, tip, signal)) return found(tip, "in the repository");
  const at = { cwd: repository.top, branch };
  const pushed = runPersonsProgram === undefined ? undefined : await fetchPushed(runPersonsProgram, at, signal);
  if (pushed !== undefined) {
    // More may have been pushed since.
    const commit = (await hasCommit(repository, tip, signal)) ? tip : pushed.commit;
    return found(commit, `at the remote ${pushed.remote}`);
  }
  const message = `this task builds on ${task}, whose work is at ${machine}, and neither this machine nor a remote of the project has its branch ${branch}, so what it did is unknown here; push the branch from there, or start the task at that node, and retry`;
  throw new TuttiError("outcome_unknown", message, { details: { task, branch, commit: tip, machine } });
}
