// Builds the runner of goals for a project: its models, how tasks are assigned, and how their work is merged and checked.

import { join } from "node:path";

import { treeFile } from "../../agent/delegation/task-input.ts";
import { managerRunner } from "../../manager/manager.ts";
import type { Runner } from "../../ports.ts";
import { openBaseCache } from "../../verification/index.ts";
import { checksFolder } from "./checks-folder.ts";
import type { AssignmentParts } from "./build-assignment.ts";
import { goalSettings } from "./goal-settings.ts";
import { policyFor, type ProjectPolicy } from "./project-policy.ts";
import { TuttiError } from "../../protocol/error.ts";
import { goalPolicy, runGh } from "./build-assignment.ts";
import { delegateTask, shownRoute } from "./delegate-task.ts";
import { integrateGoal } from "./integrate-goal.ts";

export function buildManager(parts: AssignmentParts): Runner {
  const { state, sandbox, toolchains, workspaces, names, model, allowed, project, checks: ofProject } = parts;
  const defaultModel = names.fallback;
  const checks = { workspaces, sandbox, toolchains, allowed, hidden: [state], folder: checksFolder(state) };
  return managerRunner({
    model: (file) => model(treeFile(file)),
    defaultModel,
    settings: (file) => {
      if (project === undefined) throw new TuttiError("internal", "a goal has a project");
      const policyOf = (decider: string | undefined): Promise<ProjectPolicy> => policyFor(project, state, decider);
      return goalSettings({ project, checks: ofProject, defaultModel, policyOf }, file);
    },
    assign: (request) => delegateTask(request, defaultModel),
    route: (request) => shownRoute(request, goalPolicy(request.file.goal.policy, defaultModel), defaultModel),
    comment: async ({ url, text }, signal) => {
      const ran = await runGh(["issue", "comment", url, `--body=${text}`], signal);
      if (ran === null) return { ok: false, said: "gh cannot be started, or did not end in time" };
      return { ok: ran.code === 0, said: (ran.code === 0 ? ran.stdout : ran.stderr).trim().slice(0, 1_000) };
    },
    // A project is loaded also by commands that must not touch the state folder, so the cache is opened late.
    integrate: (request, step) =>
      integrateGoal(request, step, { ...checks, cache: openBaseCache(join(state, "checks")) }),
  });
}
