// Prepares a program that runs in a workspace: its variables, a home folder of its own, and its confinement where the machine can confine it.

import { copyFile, mkdir, rm, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join } from "node:path";

import { absoluteFolders, ownPath, ownPathFirst } from "../../files/own-environment.ts";
import { errno } from "../../core/errno.ts";
import { programOf } from "../command/resolve-command.ts";
import type { Launcher, Program } from "./process/launcher.ts";
import { confineSession } from "./sandbox/confine-session.ts";
import type { SandboxStatus } from "./sandbox/sandbox-status.ts";
import type { SessionFolder } from "./session-folder.ts";

/** Variables without which few programs work, and which hold no secrets. */
const plainVariables = ["PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ"];

export interface ProgramPlace {
  readonly folder: SessionFolder;
  /** The session's own home folder; made when the session is launched. */
  readonly home: string;
  readonly sandbox: SandboxStatus;
  /** Folders that the session must not see. */
  readonly hidden: readonly string[];
  readonly toolchains: readonly string[];
  /** Files and folders of the workspace that a confined session does not see. */
  readonly covered?: readonly string[];
}

/** The environment is the program's. What confines it gets Tutti's own. */
export interface PreparedProgram extends Program {
  readonly launcher: Launcher | undefined;
}

/** For programs in the workspace that are not the agent: without its keys. */
export async function prepareProgram(
  options: ProgramPlace,
  [program, ...args]: readonly [string, ...string[]],
  { cwd, network = false }: { readonly cwd: string; readonly network?: boolean },
): Promise<PreparedProgram> {
  const path = await programOf(program, cwd, plainEnvironment());
  const { launcher, env } = await confined({ ...options, folder: { ...options.folder, cwd } }, path, { network });
  return { launcher, argv: [path, ...args], env: { ...plainEnvironment(), ...ownFolders(options.home), ...env } };
}

/** How the program, an absolute path, is confined; no launcher where the machine cannot confine programs. */
export async function confined(
  { folder, home, sandbox, hidden, toolchains, covered = [] }: ProgramPlace,
  program: string,
  { network, path }: { readonly network: boolean; readonly path?: string | undefined },
): Promise<Pick<PreparedProgram, "launcher" | "env">> {
  if (!sandbox.confined) return { launcher: undefined, env: {} };
  const { cwd, roots, git } = folder;
  const place = { cwd, roots, home, hidden, toolchains, covered, network, path, ...(git === undefined ? {} : { git }) };
  return confineSession(sandbox, place, program);
}

export function plainEnvironment(): Record<string, string> {
  const { PATH, ...passed } = passedOn(plainVariables);
  return { ...passed, ...(PATH === undefined ? {} : { PATH: absoluteFolders(PATH) }), TERM: "dumb" };
}

/** For a program that is given secrets, as a coding agent is given its login: a project does not choose what it starts. */
export function keptEnvironment(): Record<string, string> {
  return { ...plainEnvironment(), PATH: ownPathFirst() };
}

/** Where such a program itself is looked up. */
export function keptPlaces(): Record<string, string> {
  return { PATH: ownPath() };
}

export function passedOn(names: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = process.env[name];
      return value === undefined ? [] : [[name, value] as const];
    }),
  );
}

export function ownFolders(home: string): Record<string, string> {
  return { HOME: home, TMPDIR: join(home, "tmp") };
}

export interface HomeContent {
  /** Paths below the person's home folder. */
  readonly credentials: readonly string[];
  /** Path below the home → content. */
  readonly files: Readonly<Record<string, string>>;
}

/** Copies, so that nothing a session does can change the person's own files. */
export async function makeHome(
  home: string,
  { credentials, files }: HomeContent = { credentials: [], files: {} },
): Promise<void> {
  await mkdir(join(home, "tmp"), { recursive: true, mode: 0o700 });
  for (const path of credentials) {
    const target = join(home, path);
    await mkdir(dirname(target), { recursive: true, mode: 0o700 });
    await copyFile(join(homedir(), path), target).catch((thrown: unknown) => {
      if (errno(thrown) !== "ENOENT") throw thrown;
    });
  }
  for (const [path, content] of Object.entries(files)) {
    const target = join(home, path);
    await mkdir(dirname(target), { recursive: true, mode: 0o700 });
    await writeFile(target, content, { mode: 0o600 });
  }
}

/** The home has a copy of the login, so it does not stay. */
export async function removeHome(home: string): Promise<void> {
  await rm(home, { recursive: true, force: true });
}
