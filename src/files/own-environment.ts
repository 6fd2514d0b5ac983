// The environment of programs that Tutti starts for itself: the machine's own programs, plain language, and nothing that changes what a program does.

import { existsSync, realpathSync } from "node:fs";
import { homedir } from "node:os";
import { basename, delimiter, dirname, join, sep } from "node:path";

/**
 * The variable of processes that a node starts without noting each of them, such as git: by it, the watchdog of the node
 * finds those that were left behind.
 */
export const nodeVariable = "TUTTI_NODE";

/** Of a PATH. A folder that is not absolute is one of the workspace, as soon as a program runs there. */
export function absoluteFolders(path: string): string {
  return path
    .split(":")
    .filter((folder) => folder.startsWith("/"))
    .join(":");
}

const defaultPath = "/usr/local/bin:/usr/bin:/bin";

/** Of our own variables, `also` names further ones to pass on. */
export function ownEnvironment(also: readonly string[] = []): Record<string, string> {
  const passed = [nodeVariable, ...also].flatMap((name): [string, string][] => {
    const value = process.env[name];
    return value === undefined ? [] : [[name, value]];
  });
  return { ...Object.fromEntries(passed), PATH: ownPath(), LC_ALL: "C" };
}

const known = new Map<string, string>();

/**
 * The PATH without the folders that belong to a project: an activated environment of Python, npm and direnv put such
 * folders first, and whatever works on the project, confined as it is, can put a `git` there. A folder is judged once,
 * so that nothing is changed by what is done to the project afterwards.
 */
export function ownPath(path = process.env["PATH"] ?? defaultPath): string {
  const found = known.get(path);
  if (found !== undefined) return found;
  const named = foldersInUse();
  const own = absoluteFolders(path)
    .split(delimiter)
    .filter((folder) => !isOfProject(folder, named))
    .join(delimiter);
  known.set(path, own);
  return own;
}

/**
 * The PATH of a program that is given secrets: what it starts by name is the machine's own, if the machine has it. What a
 * project put into the PATH comes last.
 */
export function ownPathFirst(path = process.env["PATH"] ?? defaultPath): string {
  const own = ownPath(path).split(delimiter);
  const rest = absoluteFolders(path)
    .split(delimiter)
    .filter((folder) => !own.includes(folder));
  return [...own, ...rest].filter((folder) => folder !== "").join(delimiter);
}

/** What such a tool says itself about the project that it put into the PATH. */
function foldersInUse(): string[] {
  const { VIRTUAL_ENV = "", DIRENV_DIR = "", npm_config_local_prefix = "" } = process.env;
  const home = `${homedir()}${sep}`;
  return [VIRTUAL_ENV, DIRENV_DIR.replace(/^-/, ""), npm_config_local_prefix]
    .filter((folder) => folder.startsWith("/") && !home.startsWith(`${folder}${sep}`))
    .map((folder) => `${folder}${sep}`);
}

function isOfProject(folder: string, named: readonly string[]): boolean {
  let real = folder;
  try {
    real = realpathSync(folder);
  } catch {
    // A folder that does not exist yet is judged by its name alone.
  }
  return [...new Set([folder, real])].some(
    (each) =>
      named.some((project) => `${each}${sep}`.startsWith(project)) ||
      (basename(each) === ".bin" && basename(dirname(each)) === "node_modules") ||
      existsSync(join(dirname(each), "pyvenv.cfg")) ||
      isInCheckout(each),
  );
}

/** A home folder that is itself a checkout, as of settings, makes no project of everything in it. */
function isInCheckout(folder: string): boolean {
  const home = homedir();
  for (let at = folder; at !== home && at !== dirname(at); at = dirname(at)) {
    if (existsSync(join(at, ".git"))) return true;
  }
  return false;
}
