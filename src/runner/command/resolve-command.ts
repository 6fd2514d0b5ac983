// Finds the folder, the program and the environment of a command, all checked before any process is started.

import { constants } from "node:fs";
import { access, realpath, stat } from "node:fs/promises";
import { delimiter, isAbsolute, relative, resolve, sep } from "node:path";

import { readOffLimits, refuseInside } from "../../agent/workspace/off-limits.ts";
import { absoluteFolders } from "../../files/own-environment.ts";
import { errno } from "../../core/errno.ts";
import { TuttiError } from "../../protocol/error.ts";
import { variableProblem } from "../shared/process/launcher.ts";
import type { CommandConfig } from "./config.ts";

export interface WorkdirLimits {
  readonly roots: readonly string[];
  /** Folders that no command may run in, by whatever path they are reached. */
  readonly offLimits: readonly string[];
}

/** The real path of the folder. It must be inside a root; a link that leads out of the roots is refused. */
export async function workdirOf(workdir: string | undefined, { roots, offLimits }: WorkdirLimits): Promise<string> {
  const [first] = roots;
  if (first === undefined) {
    throw new TuttiError(
      "refused",
      "the task has no folder it may touch, so there is no folder to run a command in; give it a root",
    );
  }
  const wanted = resolve(first, workdir ?? ".");
  const real = await realFolder(wanted);
  refuseInside(real, readOffLimits(offLimits));
  const allowed = await Promise.all(roots.map((root) => realpath(root).catch(() => undefined)));
  if (allowed.some((root) => root !== undefined && isInside(real, root))) return real;
  const seen = real === wanted ? wanted : `${wanted} (really ${real})`;
  throw new TuttiError("refused", `the folder ${seen} is outside of what the task may touch: ${roots.join(", ")}`);
}

async function realFolder(path: string): Promise<string> {
  try {
    const real = await realpath(path);
    if ((await stat(real)).isDirectory()) return real;
  } catch (cause) {
    throw new TuttiError(
      "not_found",
      `the folder ${path} to run the command in cannot be opened: ${errno(cause) ?? String(cause)}`,
      {
        cause,
      },
    );
  }
  throw new TuttiError("invalid_input", `${path} is not a folder; a command needs one to run in`);
}

function isInside(path: string, root: string): boolean {
  const below = relative(root, path);
  return below === "" || !(below === ".." || below.startsWith(`..${sep}`) || isAbsolute(below));
}

/** The allowed variables of our own environment, and those the command was given. */
export function environmentOf({ env, env_allow }: Pick<CommandConfig, "env" | "env_allow">): Record<string, string> {
  const isAllowed = (name: string): boolean =>
    env_allow.some((allowed) => (allowed.endsWith("*") ? name.startsWith(allowed.slice(0, -1)) : name === allowed));
  const passed: Record<string, string> = {};
  for (const [name, value] of Object.entries(process.env)) {
    if (value !== undefined && isAllowed(name) && variableProblem(name, value) === undefined) passed[name] = value;
  }
  if (passed["PATH"] !== undefined) passed["PATH"] = absoluteFolders(passed["PATH"]);
  return { ...passed, ...env };
}

const defaultPath = "/usr/local/bin:/usr/bin:/bin";

/**
 * The absolute path of the program, found in the PATH as a shell finds it, but never in a folder that is relative to the one
 * that the command runs in: it may be a workspace. Throws when the program cannot be run.
 */
export async function programOf(name: string, cwd: string, env: Readonly<Record<string, string>>): Promise<string> {
  const folders = name.includes("/") ? [""] : (env["PATH"] ?? defaultPath).split(delimiter).filter(isAbsolute);
  let denied: string | undefined;
  for (const folder of folders) {
    const path = resolve(cwd, folder, name);
    const found = await stat(path).catch(() => undefined);
    if (found?.isFile() !== true) continue;
    const runs = await access(path, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (runs) return path;
    denied ??= path;
  }
  if (denied !== undefined)
    throw new TuttiError("refused", `${denied} may not be run: it is not executable for this user`);
  const where = name.includes("/") ? `at ${resolve(cwd, name)}` : "in the PATH of the command";
  throw new TuttiError("not_found", `there is no program ${name} ${where}; to run a builtin of the shell use "shell"`);
}
