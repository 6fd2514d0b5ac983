// Opens a project: finds its folder, its config and its agents, and puts together what a run of one of them needs.

import { mkdir, realpath, stat, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join, resolve } from "node:path";

import type { PreparedRun, Project, RunRequest } from "../../host/project.ts";
import { agentRun } from "../../agent/delegation/single-agent.ts";
import { definitionFolders, loadDefinitions, type LoadedDefinitions } from "../../agent/definition/agent-folders.ts";
import { starterDefinition } from "../../agent/definition/starter-file.ts";
import { watchDefinitions } from "../../agent/definition/watch-folders.ts";
import { readDefinition } from "../../agent/definition/definition.ts";
import { TuttiError } from "../../protocol/error.ts";
import { issuesOf } from "../../protocol/lenient-read.ts";
import { RehearsalScript } from "../../protocol/invocation/rehearsal-script.ts";
import { loadConfig } from "./project-config.ts";
import { examine } from "./examine.ts";
import { listModels, modelNames } from "./project-models.ts";
import { projectFolder } from "./project-folder.ts";
import { withToolProblems } from "./tool-problems.ts";

/** `from` is a folder in the project. */
export function openProject(from: string): Project {
  const home = homedir();
  const folder = projectFolder(resolve(from), home);
  const folders = definitionFolders({ project: folder, home });
  const agents = async (): Promise<LoadedDefinitions> => withToolProblems(await loadDefinitions(folders));
  return {
    folder,
    agents,
    async watchAgents(onChange) {
      const watched = await watchDefinitions(folders, (loaded) => onChange(withToolProblems(loaded)));
      return { current: withToolProblems(watched.current()), close: () => watched.close() };
    },
    async newAgent(name, { user }) {
      const place = join(user ? home : folder, ".tutti", "agents");
      return writeStarter(place, name);
    },
    prepareRun: async (request) => prepareRun(folder, await agents(), request),
    models: async ({ probe }) => listModels((await loadConfig(folder)).config.models, { probe }),
    doctor: ({ state }) => examine({ project: folder, state, agents }),
  };
}

async function writeStarter(place: string, name: string): Promise<string> {
  const text = starterDefinition(name);
  const reading = readDefinition(text, { stem: name });
  if (reading.kind !== "agent" || reading.name !== name) {
    const why = reading.issues.find((issue) => issue.level === "error")?.message ?? "it is no plain name";
    throw new TuttiError("usage", `an agent cannot be called ${JSON.stringify(name)}: ${why}`);
  }
  const file = join(place, `${name}.md`);
  try {
    await mkdir(place, { recursive: true });
    await writeFile(file, text, { flag: "wx" });
  } catch (thrown) {
    const code = thrown instanceof Error && "code" in thrown ? thrown.code : undefined;
    if (code === "EEXIST") throw new TuttiError("conflict", `${file} is there already; it was not touched`);
    throw new TuttiError("io", `could not write ${file}: ${String(thrown)}`, { cause: thrown });
  }
  return file;
}

async function prepareRun(project: string, loaded: LoadedDefinitions, request: RunRequest): Promise<PreparedRun> {
  const { agent: name, prompt } = request;
  if (prompt.trim() === "") throw new TuttiError("usage", "the prompt is blank; say what the agent is to do");
  if (!loaded.agents.some((agent) => agent.name === name)) throw noAgent(loaded, name);
  const { config } = await loadConfig(project);
  const names = modelNames(config.models);
  const script = request.script === undefined ? undefined : readScript(request.script);
  const definitions = new Map(loaded.agents.map((agent) => [agent.name, agent.definition]));
  const file = agentRun(definitions, {
    agent: name,
    prompt,
    folder: await workFolder(request.folder),
    model: request.model,
    // A script is there to be played, unless somebody names a model.
    defaultModel: script === undefined ? names.fallback : names.rehearsal,
    resolve: names.resolve,
    script,
  });
  const model = file.agents[name]?.model ?? file.model ?? names.rehearsal;
  return {
    text: JSON.stringify({ ...file, ...(config.approvals === undefined ? {} : { approvals: config.approvals }) }),
    model,
    rehearsal: model.startsWith("rehearsal/"),
  };
}

/** Says why a name that stands in a broken file is not there. */
function noAgent({ agents, problems }: LoadedDefinitions, name: string): TuttiError {
  const file = problems.find((problem) => problem.level === "error" && problem.file.endsWith(`/${name}.md`));
  if (file !== undefined) {
    return new TuttiError("invalid_input", `${file.file}:${file.line}: ${file.message}; so there is no agent ${name}`);
  }
  const known = agents.map((agent) => agent.name).join(", ");
  const others = known === "" ? "there are none; make one with `tutti agents new NAME`" : `there are: ${known}`;
  return new TuttiError("not_found", `there is no agent ${name}; ${others}`);
}

async function workFolder(given: string): Promise<string> {
  try {
    const folder = await realpath(given);
    if ((await stat(folder)).isDirectory()) return folder;
  } catch (thrown) {
    throw new TuttiError("not_found", `there is no folder ${given} to work in`, { cause: thrown });
  }
  throw new TuttiError("invalid_input", `${given} is not a folder; name the one to work in with --cwd`);
}

function readScript(text: string): RehearsalScript {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (thrown) {
    throw new TuttiError("invalid_input", "the rehearsal script is not JSON", { cause: thrown });
  }
  const parsed = RehearsalScript.safeParse(value);
  if (parsed.success) return parsed.data;
  const told = issuesOf(parsed.error).map(({ path, message }) => `${path}: ${message}`);
  throw new TuttiError("invalid_input", `the rehearsal script cannot be played: ${told.join("; ")}`);
}
