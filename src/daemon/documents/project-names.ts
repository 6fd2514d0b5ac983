// Names of projects on this machine, by folder, in `projects.json` of the state folder: for projects that lie elsewhere on other machines.

import { realpathSync } from "node:fs";
import { isAbsolute, join } from "node:path";

import { z } from "zod";

import { readPrivateFile, replacePrivateFile } from "../../files/private-file.ts";
import { refuseSharedFolder } from "../../files/private-folder.ts";
import { TuttiError } from "../../protocol/error.ts";
import { parseJson } from "../../protocol/json/parse-json.ts";
import { makeFolder } from "../../store/sqlite/database.ts";

const projectName = /^[a-z0-9][a-z0-9._-]{0,63}$/i;
const NamesFile = z.strictObject({ projects: z.record(z.string(), z.string()) });

/**
 * By folder, without links in its path. Only the person at the machine can say that two folders are the same project: what is
 * in a repository, its remote included, can be changed by whoever works there.
 */
export function projectNames(state: string): ReadonlyMap<string, string> {
  const path = join(state, "projects.json");
  const text = readPrivateFile(path);
  if (text === undefined) return new Map();
  const read = NamesFile.safeParse(parseJson(text));
  if (!read.success) throw new TuttiError("corrupt", `${path} cannot be read; remove it and name your projects again`);
  return new Map(Object.entries(read.data.projects));
}

/** `given` are as `NAME=FOLDER`. A name stands for one folder here, and a folder has one name. */
export function nameProjects(state: string, given: readonly string[]): void {
  const names = new Map(projectNames(state));
  for (const each of given) {
    const [name = "", ...rest] = each.split("=");
    const folder = realFolder(rest.join("="));
    if (!projectName.test(name) || folder === undefined) {
      const message = `${each} names no project; give NAME=FOLDER, with a name of letters, digits, dots and dashes and the full path of a folder that exists`;
      throw new TuttiError("usage", message);
    }
    for (const [known, knownName] of names) if (known === folder || knownName === name) names.delete(known);
    names.set(folder, name);
  }
  refuseSharedFolder(state);
  makeFolder(state);
  replacePrivateFile(
    join(state, "projects.json"),
    `${JSON.stringify({ projects: Object.fromEntries(names) }, null, 2)}\n`,
  );
}

function realFolder(path: string): string | undefined {
  if (!isAbsolute(path)) return undefined;
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
}
