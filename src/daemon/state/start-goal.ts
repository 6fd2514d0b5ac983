// Starts a goal: fixes its agents, its policy and the texts of its manager, and finds the same goal that is under way.

import { createHash } from "node:crypto";
import { homedir } from "node:os";
import { isAbsolute, resolve } from "node:path";

import { definitionFolders, loadDefinitions } from "../../agent/definition/agent-folders.ts";
import type { Tutti } from "../../client/client.ts";
import { goalOfTask } from "../../core/goal-id.ts";
import { managerAgent } from "../../manager/call-manager-model.ts";
import type { Tasks } from "../../ports.ts";
import { StartGoal, type StartedGoal } from "../../protocol/api/goal-shapes.ts";
import { TuttiError } from "../../protocol/error.ts";
import { GoalFile, GoalLimits } from "../../protocol/invocation/goal-file.ts";
import type { AgentDefinition } from "../../protocol/invocation/invocation-file.ts";
import { readPolicy } from "../../protocol/routing/read-policy.ts";
import type { NamedCheck } from "../../protocol/task/named-check.ts";
import type { ProjectCheck } from "../project/checks-config.ts";
import { workerAgent } from "../project/delegate-task.ts";
import { readConfigFiles } from "../project/config-files.ts";
import { requireGoalModel } from "../project/require-goal-model.ts";
import { managerTexts } from "../project/manager-texts.ts";
import { projectFolder } from "../project/project-folder.ts";
import type { ProjectRuntimes } from "../project/project-runtimes.ts";
import { findRepository } from "../../workspace/find-repository.ts";
import { owner } from "./api-keys.ts";
import { programMark } from "./mark-program.ts";
import { needsOf } from "./start-invocation.ts";

interface GoalStarterDeps {
  readonly engine: Pick<Tasks, "start">;
  readonly runtimes: ProjectRuntimes;
}

const worker: AgentDefinition = {
  description: "does a task that names no other agent",
  instructions:
    "You carry out one task of a larger goal, in a workspace of your own. Do what the task says and nothing else. When you have finished, say in a few sentences what you did and what you did not do.",
};

export function goalStarter(deps: GoalStarterDeps): Tutti["startGoal"] {
  return async (given, { anew = false, key, caller = owner, program } = {}) => {
    const request = StartGoal.parse(given);
    const { folder, policy, limits, script, budget, approvals, operators, labels, ...goal } = request;
    if (!isAbsolute(folder))
      throw new TuttiError("invalid_input", `the folder must be an absolute path, not ${folder}`);
    const root = resolve(folder);
    const home = homedir();
    const project = projectFolder(root, home);
    const warnings: string[] = [];
    const runtime = await deps.runtimes.runtimeOf(project);
    const isTrusted = runtime !== undefined && readConfigFiles(project) !== undefined;
    const texts = await managerTexts({ project, home, isTrusted });
    const model = runtime?.environment.defaultModel;
    if (script === undefined) requireGoalModel(goal.manager_model ?? model);
    const optional = { script, budget, approvals, operators, labels, ...(model === undefined ? {} : { model }) };
    const file = GoalFile.parse({
      ...Object.fromEntries(Object.entries(optional).filter(([, value]) => value !== undefined)),
      agents: { [workerAgent]: worker, ...(await agentsOf(project, home)) },
      roots: [root],
      goal: {
        ...goal,
        texts,
        limits: GoalLimits.parse(limits ?? {}),
        project_checks: (runtime?.checks ?? []).map(projectCheck),
        policy: policy === undefined ? await ownPolicy(deps, project) : checkedPolicy(policy, warnings),
      },
    });
    // A repository that cannot be used is an error of the first task, which says why.
    const isInGit = await findRepository(root).then(
      (found) => found !== undefined,
      () => true,
    );
    if (!isInGit) warnings.push(noGit(root));
    const place = { project, roots: [root], isAgreed: runtime !== undefined };
    const mark = programMark(program, { goal: request }, place);
    const content = digestOf([JSON.stringify(request), project, ...Object.keys(mark)]);
    const started = await deps.engine.start(
      {
        runner: { kind: "manager", config: { project, ...mark } },
        agent: managerAgent,
        input: file,
        rights: { tools: "*", roots: [root] },
        budget: Object.fromEntries(Object.entries(budget ?? {}).filter(([, limit]) => limit !== undefined)),
      },
      {
        ...(key === undefined ? { key: `goal ${content}`, anew } : { once: { key: `goal ${caller} ${key}`, content } }),
        ...needsOf(file),
      },
    );
    return { ...started, goal: goalOfTask(started.task), warnings } satisfies StartedGoal;
  };
}

function noGit(folder: string): string {
  return `${folder} is in no git repository: the work is done in copies of it, and nothing in it changes; the report says how to bring the work over (\`git init\` and a commit beforehand give branches to merge)`;
}

/** All agents of the project and of the user: the manager may give a task to any of them. */
async function agentsOf(project: string, home: string): Promise<Record<string, AgentDefinition>> {
  const { agents } = await loadDefinitions(definitionFolders({ project, home }));
  return Object.fromEntries(agents.map(({ name, definition }) => [name, definition]));
}

/** The project's policy in the version that the person trusted, or a default from the models that can be called. */
async function ownPolicy(
  { runtimes }: GoalStarterDeps,
  project: string,
): Promise<{ readonly text: string; readonly hash: string; readonly is_default: boolean }> {
  const { text, hash, source } = await runtimes.policyOf(project);
  return { text, hash, is_default: source === "default" };
}

function projectCheck({ run, cwd, network, timeout_ms }: ProjectCheck): NamedCheck {
  return {
    check: typeof run === "string" ? run : { run },
    named_by: "config",
    network,
    is_criterion: false,
    ...(cwd === undefined ? {} : { cwd }),
    ...(timeout_ms === undefined ? {} : { timeout_ms }),
  };
}

function checkedPolicy(text: string, warnings: string[]): { readonly text: string; readonly hash: string } {
  const read = readPolicy(text);
  warnings.push(...read.warnings);
  if (!read.ok) throw read.error;
  return { text, hash: createHash("sha256").update(text).digest("hex") };
}

function digestOf(parts: readonly string[]): string {
  return createHash("sha256").update(parts.join("\0")).digest("hex");
}
