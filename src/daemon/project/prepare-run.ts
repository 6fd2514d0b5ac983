// Prepares the run of one agent: an invocation with the agent's definition, its model and the folder it works in.

import { realpath, stat } from "node:fs/promises";
import { isAbsolute, relative } from "node:path";

import type { LoadedDefinitions } from "../../agent/definition/agent-folders.ts";
import { missingAgent } from "../../agent/definition/missing-agent.ts";
import { agentRun } from "../../agent/delegation/single-agent.ts";
import { isRehearsalName } from "../../core/rehearsal-name.ts";
import type { PreparedRun, RunRequest } from "../../host/project.ts";
import { builtInScript } from "../../model/rehearsal/built-in-script.ts";
import { TuttiError } from "../../protocol/error.ts";
import type { RunnerConfig } from "../../protocol/invocation/executor.ts";
import { RehearsalScript } from "../../protocol/invocation/rehearsal-script.ts";
import { runnerName, withWorkspace } from "../../protocol/invocation/runner-ref.ts";
import { issuesOf, describeIssues } from "../../protocol/lenient-read.ts";
import { checkPolicy } from "./check-policy.ts";
import { effectiveConfig } from "./effective-config.ts";
import { keySources } from "../secrets/provider-keys.ts";
import { modelNames } from "./project-models.ts";
import { readWrittenJson } from "../../protocol/json/written-json.ts";

export async function prepareRun(
  { project, state }: { readonly project: string; readonly state: string },
  loaded: LoadedDefinitions,
  request: RunRequest,
): Promise<PreparedRun> {
  const { agent: name, prompt } = request;
  if (prompt.trim() === "") throw new TuttiError("usage", "the prompt is blank; say what the agent is to do");
  const asked = loaded.agents.find((agent) => agent.name === name);
  if (asked === undefined) throw missingAgent(loaded, name);
  const { models, profiles, problem } = await effectiveConfig(project, state);
  if (request.policy !== undefined) checkPolicy(request.policy, profiles);
  const names = modelNames(models, keySources(state));
  const script = request.script === undefined ? undefined : readScript(request.script);
  const definitions = new Map(loaded.agents.map((agent) => [agent.name, agent.definition]));
  // Whoever gives a script wants it played, unless they also name a model.
  const fallback = script === undefined ? names.fallback : names.rehearsal;
  // A config that is not used yet may set a model; it is looked up when the task runs.
  const byConfig = problem !== undefined && script === undefined && isRehearsalName(fallback);
  const folder = await existingFolder(request.folder);
  const runner = runnerFor(request, asked.definition.runner);
  const file = agentRun(definitions, {
    agent: name,
    prompt,
    folder,
    model: request.model,
    effort: request.effort,
    defaultModel: byConfig ? undefined : fallback,
    resolve: names.resolve,
    script,
    runner,
  });
  if (runner !== undefined && runner.kind !== "local") {
    return { text: JSON.stringify(file), model: runnerName(runner), rehearsal: false, problem };
  }
  const model = file.agents[name]?.model ?? file.model ?? (byConfig ? "the config's model" : names.rehearsal);
  const rehearsal = isRehearsalName(model);
  const bare = rehearsal && script === undefined && asked.definition.runner === undefined;
  const played = bare && request.rehearse ? builtInScript(asked.definition, within(folder, asked.file)) : script;
  return {
    text: JSON.stringify(played === undefined ? file : { ...file, script: played }),
    model,
    rehearsal,
    problem,
  };
}

function runnerFor({ runner, workspace }: RunRequest, own: RunnerConfig | undefined): RunnerConfig | undefined {
  if (workspace === undefined) return runner;
  return withWorkspace(runner ?? own ?? { kind: "local", config: {} }, workspace);
}

function within(folder: string, file: string): string | undefined {
  const path = relative(folder, file);
  // Double braces would be placeholders in a script.
  return path.startsWith("..") || path.includes("{{") || isAbsolute(path) ? undefined : path;
}

async function existingFolder(path: string): Promise<string> {
  try {
    const folder = await realpath(path);
    if ((await stat(folder)).isDirectory()) return folder;
  } catch (thrown) {
    throw new TuttiError("not_found", `there is no folder ${path} to work in`, { cause: thrown });
  }
  throw new TuttiError("invalid_input", `${path} is not a folder; name the folder to work in with --cwd`);
}

function readScript(text: string): RehearsalScript {
  const read = readWrittenJson(text);
  if (!read.ok) throw new TuttiError("invalid_input", `the rehearsal script ${read.problem}`);
  const parsed = RehearsalScript.safeParse(read.value);
  if (parsed.success) return parsed.data;
  const issues = describeIssues(issuesOf(parsed.error));
  throw new TuttiError("invalid_input", `the rehearsal script cannot be played: ${issues}`);
}
