// Where a command runs and with what: the folder, the program and the environment, checked before any process exists.

import { constants } from "node:fs";
import { access, realpath, stat } from "node:fs/promises";
import { delimiter, isAbsolute, relative, resolve, sep } from "node:path";

import { TuttiError } from "../../protocol/error.ts";
import type { CommandConfig } from "./config.ts";

/** The real folder, inside a real root: a link that leads out of the roots is refused. */
export async function workdirOf(workdir: string | undefined, roots: readonly string[]): Promise<string> {
  const [first] = roots;
  if (first === undefined) {
    throw new TuttiError(
      "refused",
      "the task has no folder it may touch, so a command has nowhere to run; give it a root",
    );
  }
  const wanted = resolve(first, workdir ?? ".");
  const real = await realFolder(wanted);
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
    throw new TuttiError("not_found", `the folder ${path} to run the command in cannot be opened: ${codeOf(cause)}`, {
      cause,
    });
  }
  throw new TuttiError("invalid_input", `${path} is not a folder; a command needs one to run in`);
}

function isInside(path: string, root: string): boolean {
  const way = relative(root, path);
  return way === "" || !(way === ".." || way.startsWith(`..${sep}`) || isAbsolute(way));
}

/** Only what is allowed of our own environment, and what the command was given. */
export function environmentOf({ env, env_allow }: Pick<CommandConfig, "env" | "env_allow">): Record<string, string> {
  const isAllowed = (name: string): boolean =>
    env_allow.some((allowed) => (allowed.endsWith("*") ? name.startsWith(allowed.slice(0, -1)) : name === allowed));
  const passed: Record<string, string> = {};
  for (const [name, value] of Object.entries(process.env)) {
    if (value !== undefined && isAllowed(name)) passed[name] = value;
  }
  return { ...passed, ...env };
}

const defaultPath = "/usr/local/bin:/usr/bin:/bin";

/** The program as an absolute path: found as a shell finds it, but an error before anything was started. */
export async function programOf(name: string, cwd: string, env: Readonly<Record<string, string>>): Promise<string> {
  const folders = name.includes("/") ? [""] : (env["PATH"] ?? defaultPath).split(delimiter);
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
  throw new TuttiError(
    "not_found",
    `there is no program ${name} ${where}; a command of the shell itself needs "shell"`,
  );
}

function codeOf(thrown: unknown): string {
  return thrown instanceof Error && "code" in thrown ? String(thrown.code) : String(thrown);
}
