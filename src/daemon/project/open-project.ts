// Opens the project that contains a folder: its agents, its models, and what commands do with them.

import { homedir } from "node:os";
import { join, resolve } from "node:path";

import type { Project } from "../../host/project.ts";
import { definitionFolders, loadDefinitions, type LoadedDefinitions } from "../../agent/definition/agent-folders.ts";
import { watchDefinitions } from "../../agent/definition/watch-folders.ts";
import { createAgentFile } from "./create-agent-file.ts";
import { prepareRun } from "./prepare-run.ts";
import { loadConfig } from "./project-config.ts";
import { projectFolder } from "./project-folder.ts";
import { listModels } from "./project-models.ts";
import { runDoctor } from "./run-doctor.ts";
import { withToolWarnings } from "./unknown-tools.ts";

/** `from` is a folder in the project. */
export function openProject(from: string): Project {
  const home = homedir();
  const folder = projectFolder(resolve(from), home);
  const folders = definitionFolders({ project: folder, home });
  const agents = async (): Promise<LoadedDefinitions> => withToolWarnings(await loadDefinitions(folders));
  return {
    folder,
    agents,
    async watchAgents(onChange) {
      const watched = await watchDefinitions(folders, (loaded) => onChange(withToolWarnings(loaded)));
      return { current: withToolWarnings(watched.current()), close: () => watched.close() };
    },
    newAgent: (name, { user }) => createAgentFile(join(user ? home : folder, ".tutti", "agents"), name),
    prepareRun: async (request) => prepareRun(folder, await agents(), request),
    models: async ({ probe }) => listModels((await loadConfig(folder)).config.models, { probe }),
    doctor: ({ state }) => runDoctor({ project: folder, state, agents }),
  };
}
