// Makes pull requests of the work of tasks, with the person's own git and gh: the plan first, and then exactly what somebody agreed to.

import type { Looking, Tutti } from "../../client/client.ts";
import {
  openPullRequest,
  planPullRequest,
  type PullRequestWork,
  type ProgramSteps,
  type WantedPullRequest,
} from "../../core/pull-request.ts";
import { OpenPullRequest, type PullRequestPlan, PullRequestQuery } from "../../protocol/api/pull-request-shapes.ts";
import { TuttiError } from "../../protocol/error.ts";
import type { TaskId } from "../../protocol/ids.ts";
import { oneAtATime } from "./one-at-a-time.ts";
import { readInput } from "./read-input.ts";
import { runPersonsProgram } from "./run-persons-program.ts";

export interface PullRequestDeps extends Pick<Tutti, "taskWorkspace" | "workspaceDiff"> {
  /** Takes secrets out of a text. */
  readonly redact: (text: string) => string;
  /** Ends the programs. */
  readonly stopping: AbortSignal;
}

export interface PullRequestControl extends Pick<Tutti, "pullRequestPlan" | "openPullRequest"> {
  /** Resolves when no program runs any more. */
  idle(): Promise<void>;
}

export function pullRequestControl({ redact, stopping, ...work }: PullRequestDeps): PullRequestControl {
  const { exclusively, idle } = oneAtATime();
  const take = async <T>(steps: ProgramSteps<T>, signal: AbortSignal = stopping): Promise<T> => {
    let at = steps.next();
    while (at.done !== true) {
      const { code, out, err } = await runPersonsProgram(at.value, signal);
      at = steps.next({ code, out: redact(out), err: redact(err) });
    }
    return at.value;
  };
  const workOf = async (task: TaskId, attempt: number | undefined, looking?: Looking): Promise<PullRequestWork> => {
    const workspace = await work.taskWorkspace(task, { attempt }, looking);
    return { workspace, diff: await work.workspaceDiff(task, { attempt, patch_bytes: 0 }, looking) };
  };
  const planned = async (
    of: PullRequestWork,
    wanted: WantedPullRequest,
    signal?: AbortSignal,
  ): Promise<PullRequestPlan> => take(planPullRequest(of, wanted), signal);
  return {
    idle,
    pullRequestPlan: (task, query = {}, looking = {}) =>
      exclusively(async () => {
        const { signal } = looking;
        // Whoever has gone while others were served wants no plan any more.
        signal?.throwIfAborted();
        const { attempt, ...wanted } = readInput(PullRequestQuery, query, "query");
        const either = signal === undefined ? stopping : AbortSignal.any([stopping, signal]);
        return planned(await workOf(task, attempt, looking), wanted, either);
      }),
    openPullRequest: (task, body) =>
      exclusively(async () => {
        const { attempt, ...agreed } = readInput(OpenPullRequest, body, "body");
        const of = await workOf(task, attempt);
        const { remote, title, base } = agreed;
        const plan = await planned(of, { remote, title, base: base ?? undefined });
        refuseOther(plan, agreed);
        const { made, existed } = await take(openPullRequest(plan, of));
        return {
          task: plan.task,
          number: made.number,
          url: made.url,
          branch: made.headRefName,
          base: made.baseRefName,
          commit: made.headRefOid,
          existed,
        };
      }),
  };
}

/** What is pushed cannot be taken back, so an agreement holds for exactly what it names. */
function refuseOther(plan: PullRequestPlan, agreed: Omit<OpenPullRequest, "attempt">): void {
  const names = ["branch", "tip", "remote", "url", "title", "base"] as const;
  const other = names.filter((name) => plan[name] !== agreed[name]);
  if (other.length === 0) return;
  const told = other.map((name) => `${name} is ${JSON.stringify(plan[name])} now`);
  throw new TuttiError(
    "conflict",
    `nothing was pushed, because this is not what was agreed to: ${told.join(", ")}; look at the plan again, and agree to it as it is`,
    { details: { task: plan.task, differs: other } },
  );
}
