// Prepares the process of a session: finds the program, makes the session's own home folder, and confines it where the machine can.

import { copyFile, mkdir, rm, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join } from "node:path";

import { errno } from "../../core/errno.ts";
import { TuttiError } from "../../protocol/error.ts";
import { programOf } from "../command/resolve-command.ts";
import { confineSession } from "../shared/sandbox/confine-session.ts";
import type { SandboxStatus } from "../shared/sandbox/sandbox-status.ts";
import { commandFor, type Profile } from "./profile.ts";
import type { SessionFolder } from "./session-folder.ts";

/** Variables without which few programs work, and which hold no secrets. */
const plainVariables = ["PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ"];

export interface LaunchOptions {
  readonly name: string;
  readonly profile: Profile;
  readonly model: string | undefined;
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

export interface Launch {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** The absolute path of the agent's program. Throws `not_found` with the way to install it. */
export async function agentProgram(
  name: string,
  { command: [program], install }: Profile,
  cwd: string,
): Promise<string> {
  try {
    return await programOf(program, cwd, plainEnvironment());
  } catch (thrown) {
    if (!(thrown instanceof TuttiError) || thrown.code !== "not_found") throw thrown;
    const how = install === undefined ? "" : `; install it with: ${install}`;
    throw new TuttiError("not_found", `the agent ${name} is not installed: there is no program ${program}${how}`, {
      cause: thrown,
    });
  }
}

export async function prepareLaunch(options: LaunchOptions): Promise<Launch> {
  const { name, profile, model, folder, home } = options;
  const program = await agentProgram(name, profile, folder.cwd);
  await makeHome(home, profile);
  const chosen = commandFor(name, profile, model);
  const env = { ...plainEnvironment(), ...passedOn(profile.pass_env), ...chosen.env, ...ownFolders(home) };
  const { argv, env: confinedEnv } = await wrapped(options, program, { network: true });
  return { argv: [...argv, program, ...chosen.argv.slice(1)], env: { ...env, ...confinedEnv } };
}

/** For programs in the workspace that are not the agent: without its keys. The arguments come after these. */
export async function prepareProgram(
  options: LaunchOptions,
  program: string,
  { cwd, network = false }: { readonly cwd: string; readonly network?: boolean },
): Promise<Launch> {
  const path = await programOf(program, cwd, plainEnvironment());
  const { argv, env } = await wrapped({ ...options, folder: { ...options.folder, cwd } }, path, { network });
  return { argv: [...argv, path], env: { ...plainEnvironment(), ...ownFolders(options.home), ...env } };
}

async function wrapped(
  { folder, home, sandbox, hidden, toolchains, covered = [] }: LaunchOptions,
  program: string,
  { network }: { readonly network: boolean },
): Promise<Launch> {
  if (!sandbox.confined) return { argv: [], env: {} };
  const { cwd, roots, git } = folder;
  const place = { cwd, roots, home, hidden, toolchains, covered, network, ...(git === undefined ? {} : { git }) };
  return confineSession(sandbox, place, program);
}

function plainEnvironment(): Record<string, string> {
  return { ...passedOn(plainVariables), TERM: "dumb" };
}

function passedOn(names: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = process.env[name];
      return value === undefined ? [] : [[name, value] as const];
    }),
  );
}

function ownFolders(home: string): Record<string, string> {
  return { HOME: home, TMPDIR: join(home, "tmp") };
}

/** Copies, so that nothing a session does can change the person's own files. */
export async function makeHome(
  home: string,
  { credentials, files }: Pick<Profile, "credentials" | "files">,
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
