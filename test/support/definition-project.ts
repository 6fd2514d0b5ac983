// A project and a home folder to put agents' files into, for tests of definitions.
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { definitionFolders, type LoadedDefinitions } from "../../src/agent/definition/agent-folders.ts";
import { tempFolder } from "./temp-folder.ts";

export function definitionProject(t: Parameters<typeof tempFolder>[0]) {
  const root = tempFolder(t);
  const project = join(root, "project");
  const home = join(root, "home");
  mkdirSync(project);
  mkdirSync(home);
  const write = (path: string, text: string): string => {
    const file = join(root, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
    return file;
  };
  return { root, project, home, write, folders: definitionFolders({ project, home }) };
}

export const agentText = (name: string, body = "work"): string => `---\nname: ${name}\ndescription: d\n---\n${body}`;

/** Name → instructions. */
export const instructionsOf = ({ agents }: LoadedDefinitions): Record<string, string> =>
  Object.fromEntries(agents.map(({ name, definition }) => [name, definition.instructions]));
