// Starts a goal: fixes its agents, its policy and the texts of its manager, and finds the same goal that is under way.

import { createHash } from "node:crypto";
import { homedir } from "node:os";
import { isAbsolute, resolve } from "node:path";

import { definitionFolders, loadDefinitions } from "../../agent/definition/agent-folders.ts";
import type { Tutti } from "../../client/client.ts";
import { goalOfTask } from "../../core/goal-id.ts";
import { refuseUnreadable } from "../../core/persons-checks.ts";
import { isRehearsalName, rehearsalModelName } from "../../core/rehearsal-name.ts";
import { managerAgent } from "../../manager/call-manager-model.ts";
import type { Tasks } from "../../ports.ts";
import { StartGoal, type StartedGoal } from "../../protocol/api/goal-shapes.ts";
import { TuttiError } from "../../protocol/error.ts";
import { GoalFile, GoalLimits } from "../../protocol/invocation/goal-file.ts";
import type { AgentDefinition } from "../../protocol/invocation/invocation-file.ts";
import type { KeptPolicy } from "../../protocol/routing/kept-policy.ts";
import { readPolicy } from "../../protocol/routing/read-policy.ts";
import { workerAgent } from "../project/delegate-task.ts";
import { goalSettings } from "../project/goal-settings.ts";
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
    refuseUnreadable(request);
    const { folder, policy, limits, script, budget, approvals, operators, labels, ...goal } = request;
    if (!isAbsolute(folder))
      throw new TuttiError("invalid_input", `the folder must be an absolute path, not ${folder}`);
    const root = resolve(folder);
    const home = homedir();
    const project = projectFolder(root, home);
    const warnings: string[] = [];
    const runtime = await deps.runtimes.runtimeOf(project);
    const model = runtime?.environment.defaultModel;
    const ownPolicy = policy === undefined ? undefined : checkedPolicy(policy, warnings);
    const wishes = { goal: { ...goal, policy: ownPolicy }, script };
    // A config that nobody has agreed to yet may set the models and checks of the goal, so these are taken after the yes.
    const settings =
      runtime === undefined
        ? { settings_later: true, policy: ownPolicy }
        : await goalSettings(
            {
              project,
              checks: runtime.checks,
              defaultModel: runtime.environment.defaultModel ?? rehearsalModelName,
              policyOf: (decider) => deps.runtimes.policyOf(project, decider),
            },
            wishes,
          );
    const optional = { script, budget, approvals, operators, labels, model: treeModel(wishes, model) };
    const file = GoalFile.parse({
      ...definedOf(optional),
      agents: { [workerAgent]: worker, ...played(await agentsOf(project, home), script) },
      roots: [root],
      goal: {
        ...goal,
        limits: GoalLimits.parse(limits ?? {}),
        ...definedOf(settings),
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
        budget: definedOf(budget ?? {}),
      },
      {
        ...(key === undefined ? { key: `goal ${content}`, anew } : { once: { key: `goal ${caller} ${key}`, content } }),
        ...needsOf(file),
      },
    );
    return { ...started, goal: goalOfTask(started.task), warnings } satisfies StartedGoal;
  };
}

function definedOf(values: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
}

/** The model of agents that name none. A script names none: then all of them are rehearsed. */
function treeModel(
  { goal, script }: { readonly goal: { readonly manager_model?: string | undefined }; readonly script?: unknown },
  model: string | undefined,
): string | undefined {
  if (script !== undefined) return rehearsalModelName;
  return model !== undefined && isRehearsalName(model) ? (goal.manager_model ?? model) : model;
}

/** Whoever gives a script wants it played, also by agents whose definition names models. */
function played(
  agents: Readonly<Record<string, AgentDefinition>>,
  script: unknown,
): Readonly<Record<string, AgentDefinition>> {
  if (script === undefined) return agents;
  return Object.fromEntries(Object.entries(agents).map(([name, definition]) => [name, withoutModels(definition)]));
}

function withoutModels(definition: AgentDefinition): AgentDefinition {
  const { model: _, fallback_models: _models, runner, ...rest } = definition;
  if (runner === undefined) return rest;
  if (runner.kind !== "local") return { ...rest, runner };
  const { model: _own, fallback_models: _then, ...config }: Record<string, unknown> = Object(runner.config);
  return { ...rest, runner: { kind: "local", config } };
}

function noGit(folder: string): string {
  return `${folder} is in no git repository: the work is done in copies of it, and nothing in it changes; the report says how to bring the work over (\`git init\` and a commit beforehand give branches to merge)`;
}

/** All agents of the project and of the user: the manager may give a task to any of them. */
async function agentsOf(project: string, home: string): Promise<Record<string, AgentDefinition>> {
  const { agents } = await loadDefinitions(definitionFolders({ project, home }));
  return Object.fromEntries(agents.map(({ name, definition }) => [name, definition]));
}

function checkedPolicy(text: string, warnings: string[]): KeptPolicy {
  const read = readPolicy(text);
  warnings.push(...read.warnings);
  if (!read.ok) throw read.error;
  return { text, hash: createHash("sha256").update(text).digest("hex"), is_default: false };
}

function digestOf(parts: readonly string[]): string {
  return createHash("sha256").update(parts.join("\0")).digest("hex");
}
