// Starts an invocation: reads it, adds the agents it names, checks its targets, and finds the same one that is there already.

import { createHash } from "node:crypto";
import { isAbsolute, resolve } from "node:path";
import { homedir } from "node:os";

import { agentEnvironment, type AgentEnvironment } from "../../agent/agent-environment.ts";
import { definitionFolders } from "../../agent/definition/agent-folders.ts";
import { storedAgents } from "../../agent/definition/stored-agents.ts";
import { modelOf } from "../../agent/loop/agent-setup.ts";
import type { Tutti } from "../../client/client.ts";
import { isRehearsalName } from "../../core/rehearsal-name.ts";
import type { StartOptions, Tasks } from "../../ports.ts";
import type { Started } from "../../protocol/api/task-shapes.ts";
import { TuttiError } from "../../protocol/error.ts";
import { type InvocationFile, readInvocationFile } from "../../protocol/invocation/invocation-file.ts";
import { describeIssue, describeIssues } from "../../protocol/lenient-read.ts";
import { checkInvocation } from "../../runner/invocation/check-invocation.ts";
import { invocationTask } from "../../runner/invocation/root-task.ts";
import { runnerAbility } from "../../runner/shared/runner-ability.ts";
import { owner } from "./api-keys.ts";
import { programMark } from "./mark-program.ts";
import { projectFolder } from "../project/project-folder.ts";
import type { ProjectRuntimes } from "../project/project-runtimes.ts";

interface StarterDeps {
  readonly engine: Pick<Tasks, "start">;
  readonly runtimes: ProjectRuntimes;
}

export function invocationStarter(deps: StarterDeps): Tutti["invoke"] {
  return (text, options) => start(deps, text, options);
}

async function start(
  { engine, runtimes }: StarterDeps,
  text: string,
  options: Parameters<Tutti["invoke"]>[1],
): Promise<Started> {
  const { folder = "", anew, program } = options;
  if (!isAbsolute(folder)) throw new TuttiError("invalid_input", `the folder must be an absolute path, not ${folder}`);
  const reading = readInvocationFile(text);
  if (!reading.ok) {
    const said = describeIssues(reading.issues);
    throw new TuttiError("invalid_input", `the invocation cannot be used: ${said}`, {
      details: { issues: reading.issues },
    });
  }
  const home = homedir();
  const given = program === undefined ? reading.file : withoutOrigins(reading.file);
  const project = projectFolder(resolve(folder, given.project ?? "."), home);
  // Before its agents are looked for: a folder that is not here may be on the machine of another node.
  const runtime = await runtimes.runtimeOf(project);
  const added = await storedAgents(given, definitionFolders({ project, home }));
  const file = withDefaults({ ...given, agents: { ...given.agents, ...added } }, runtime?.environment);
  const plain = invocationTask(file, { folder, project, caller: options.caller ?? owner });
  const place = { project, roots: plain.rights.roots, isAgreed: runtime !== undefined };
  const mark = programMark(program, { file: given }, place);
  const task = { ...plain, runner: { ...plain.runner, config: { ...Object(plain.runner.config), ...mark } } };
  // Nothing of a config that is not trusted counts, and its tools are not known; the task asks, and checks when it runs.
  const children =
    runtime === undefined
      ? []
      : checkInvocation(file, task, {
          ...runtime.environment,
          servers: await runtimes.serverNames(project, runtime, file.agents),
        });
  for (const child of children) if (child.runner.kind === "local") needsScript(file, child.agent);
  const warnings = reading.warnings.map(describeIssue);
  // The same file elsewhere is other work: another project's, or on folders relative to where it is run. How it is set out does not count.
  // Work of a program waits for a yes that a person's does not, so it is not the same.
  const request = [JSON.stringify(JSON.parse(text)), project, ...task.rights.roots, ...Object.keys(mark)];
  const repeated = options.ownFolder === true ? request.slice(0, 1) : request;
  // A repeated request is the same also when an agent was edited in between; without a key, it is then other work.
  const work = Object.keys(added).length === 0 ? request : [...request, JSON.stringify(added)];
  const started = await engine.start(task, {
    ...(options.key === undefined
      ? { key: digestOf(work), anew: anew === true }
      : { once: { key: `request ${options.caller ?? owner} ${options.key}`, content: digestOf(repeated) } }),
    ...threadPlace(file, project),
    ...needsOf(file),
    runners: [...new Set(children.flatMap(({ runner }) => runnerAbility(runner) ?? []))],
  });
  return { ...started, warnings };
}

/** What a program gives is the program's, also when it says that a file of the project has it. */
function withoutOrigins(file: InvocationFile): InvocationFile {
  const agents = Object.entries(file.agents).map(([name, definition]) => {
    const { from_project: _, ...own } = definition;
    return [name, own] as const;
  });
  return { ...file, agents: Object.fromEntries(agents) };
}

/** Where the task of an invocation is said, if it names a thread. */
export function threadPlace({ thread }: InvocationFile, project: string): Pick<StartOptions, "thread"> {
  return thread === undefined ? {} : { thread: { project, thread, kind: "agent" } };
}

/** The labels that the person asked for. */
export function needsOf({ labels = [] }: Pick<InvocationFile, "labels">): Pick<StartOptions, "needs"> {
  return labels.length === 0 ? {} : { needs: labels };
}

/** Records the default model with the tree. The one of a config that is not trusted yet is looked up when the task runs. */
function withDefaults(file: InvocationFile, environment: Partial<AgentEnvironment> | undefined): InvocationFile {
  return environment === undefined ? file : { ...file, model: modelOf(file, agentEnvironment(environment)) };
}

function digestOf(parts: readonly string[]): string {
  return createHash("sha256").update(parts.join("\0")).digest("hex");
}

/** A rehearsal without a script would end well and have done nothing. */
function needsScript({ agents, model, script }: InvocationFile, agent: string): void {
  const name = agents[agent]?.model ?? model;
  if (script !== undefined || (name !== undefined && !isRehearsalName(name))) return;
  const message = `${agent} has no model and there is no script to rehearse; set a model up (\`tutti doctor\`), or give a script`;
  throw new TuttiError("invalid_input", message);
}
