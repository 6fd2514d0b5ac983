// Confines a program that works for long on its own: of the home folders it sees only its workspace, a home of its own and toolchains.

import { realpath } from "node:fs/promises";
import { homedir } from "node:os";
import { delimiter, dirname, join, sep } from "node:path";

import { TuttiError } from "../../../protocol/error.ts";
import { bwrapArgv } from "./bwrap-argv.ts";
import { type FolderAccess, folderAccess, isVisible, realFolders } from "./folder-access.ts";
import type { SandboxStatus } from "./sandbox-status.ts";
import { seatbeltArgv, seatbeltProfile } from "./seatbelt-profile.ts";

/** Below the home folder: what version managers and installers put there. None of these holds a login. */
const toolchainFolders = [
  ".asdf",
  ".bun/bin",
  ".bun/install/global",
  ".cargo/bin",
  ".deno/bin",
  ".fnm",
  ".local/bin",
  ".local/lib",
  ".local/share/fnm",
  ".local/share/mise",
  ".local/share/pnpm",
  ".local/share/uv",
  ".npm-global",
  ".nvm/versions",
  ".pyenv",
  ".rbenv",
  ".rustup",
  ".sdkman/candidates",
  ".volta",
  "go/bin",
  "Library/pnpm",
];
/** Where the home folders of people are. */
const homeFolders = ["/home", "/root", "/Users"];

export interface SessionPlace {
  readonly cwd: string;
  /** The folders that the session may change. */
  readonly roots: readonly string[];
  /** The session's own home folder, which it may change too. */
  readonly home: string;
  /** Folders that it must not see, such as the state folder. The home of the session may lie in one of them. */
  readonly hidden: readonly string[];
  /** Further folders that it may read, although they are in a home folder or in /tmp. */
  readonly toolchains: readonly string[];
  readonly network: boolean;
}

export interface SessionConfinement {
  /** Come before the program and its arguments. */
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** Throws when the program, an absolute path, would not be visible. */
export async function confineSession(
  status: Extract<SandboxStatus, { confined: true }>,
  { cwd, roots, home, hidden, toolchains, network }: SessionPlace,
  program: string,
): Promise<SessionConfinement> {
  const person = homedir();
  const homes = await realFolders([...homeFolders, person]);
  const access = await folderAccess(roots, hidden);
  const tooWide = access.writable.find((root) => homes.some((folder) => isWithin(folder, root)));
  if (tooWide !== undefined) {
    const why = `a session whose folder is ${tooWide} could change everything in a home folder`;
    throw new TuttiError("refused", `${why}; give the task a narrower folder`);
  }
  const known = [...toolchainFolders.map((folder) => join(person, folder)), ...toolchains];
  const found = await realFolders([...known, ...(await packageOf(program))]);
  const readable = found.filter((folder) => !homes.some((each) => isWithin(each, folder)));
  const ownHome = await realpath(home);
  const writable = [...access.writable, ownHome];
  const seen: FolderAccess = {
    ...access,
    hidden: [...new Set([...access.hidden, ...homes])],
    writable: [...writable, ...readable],
  };
  const limits = { writable, hidden: seen.hidden, blank: access.blank, network };
  const path = (process.env["PATH"] ?? "").split(delimiter).filter((folder) => isVisible(folder, seen));
  const env = { PATH: path.join(delimiter) };
  if (!isVisible(program, seen)) {
    const why = `${program} is in a folder that a confined session cannot see`;
    throw new TuttiError("not_found", `${why}; name its folder in acp.toolchains of your config`);
  }
  if (status.by === "bubblewrap") {
    const readOnly = [...access.before.readOnly, ...readable];
    return { argv: [status.program, ...bwrapArgv({ ...limits, readOnly, cwd })], env: { ...env, TMPDIR: "/tmp" } };
  }
  const temporary = join(ownHome, "tmp");
  const options = { ...limits, readOnly: access.before.readOnly, visible: readable };
  const profile = seatbeltProfile({ ...options, temporary, mayChangeProtected: false });
  return { argv: [status.program, ...seatbeltArgv(profile)], env: { ...env, TMPDIR: temporary } };
}

/** Whether the path is the folder or inside of it. */
function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder === sep ? folder : `${folder}${sep}`);
}

/** The folder a program was installed in: the outermost `node_modules`, or the folder of the file that it really is. */
async function packageOf(program: string): Promise<string[]> {
  const real = await realpath(program).catch(() => undefined);
  if (real === undefined) return [];
  const at = real.indexOf(`${sep}node_modules${sep}`);
  return [at === -1 ? dirname(real) : real.slice(0, at + `${sep}node_modules`.length), dirname(program)];
}
