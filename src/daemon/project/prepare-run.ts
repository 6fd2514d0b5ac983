// Prepares the run of one agent: an invocation with the agent's definition, its model and the folder it works in.

import { realpath, stat } from "node:fs/promises";

import type { LoadedDefinitions } from "../../agent/definition/agent-folders.ts";
import { missingAgent } from "../../agent/definition/missing-agent.ts";
import { agentRun } from "../../agent/delegation/single-agent.ts";
import type { PreparedRun, RunRequest } from "../../host/project.ts";
import { TuttiError } from "../../protocol/error.ts";
import { RehearsalScript } from "../../protocol/invocation/rehearsal-script.ts";
import { issuesOf, describeIssues } from "../../protocol/lenient-read.ts";
import { effectiveConfig } from "./effective-config.ts";
import { modelNames } from "./project-models.ts";
import { readWrittenJson } from "../../protocol/json/written-json.ts";

export async function prepareRun(
  { project, state }: { readonly project: string; readonly state: string },
  loaded: LoadedDefinitions,
  request: RunRequest,
): Promise<PreparedRun> {
  const { agent: name, prompt } = request;
  if (prompt.trim() === "") throw new TuttiError("usage", "the prompt is blank; say what the agent is to do");
  if (!loaded.agents.some((agent) => agent.name === name)) throw missingAgent(loaded, name);
  const { models, problem } = await effectiveConfig(project, state);
  const names = modelNames(models);
  const script = request.script === undefined ? undefined : readScript(request.script);
  const definitions = new Map(loaded.agents.map((agent) => [agent.name, agent.definition]));
  const file = agentRun(definitions, {
    agent: name,
    prompt,
    folder: await existingFolder(request.folder),
    model: request.model,
    // Whoever gives a script wants it played, unless they also name a model.
    defaultModel: script === undefined ? names.fallback : names.rehearsal,
    resolve: names.resolve,
    script,
  });
  const model = file.agents[name]?.model ?? file.model ?? names.rehearsal;
  return {
    text: JSON.stringify(file),
    model,
    rehearsal: model.startsWith("rehearsal/"),
    problem,
  };
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
