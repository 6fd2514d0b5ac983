// Confines a program that works for long on its own: of the home folders it sees only its workspace, a home of its own and toolchains.

import { realpath, stat, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { delimiter, dirname, join, sep } from "node:path";

import { absoluteFolders } from "../../../files/own-environment.ts";
import { TuttiError } from "../../../protocol/error.ts";
import { bubblewrapLauncher, type Confinement } from "./bwrap-argv.ts";
import { type FolderAccess, folderAccess, isVisible, realFolders } from "./folder-access.ts";
import type { Launcher } from "../process/launcher.ts";
import type { SandboxStatus } from "./sandbox-status.ts";
import { seatbeltLauncher, seatbeltProfile } from "./seatbelt-profile.ts";

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
/** In the session's own home. */
const emptySettings = ".no-settings.json";
/** Where the home folders of people are. */
export const homeFolders = ["/home", "/root", "/Users"];

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
  /** Settings that appear empty, where they exist: folders without files, and files with an empty JSON object. */
  readonly covered: readonly string[];
  /** What it sees of the repository that its folder belongs to. */
  readonly git?: {
    readonly readOnly: readonly string[];
    readonly hidden: readonly string[];
    readonly binds: NonNullable<Confinement["binds"]>;
  };
  readonly network: boolean;
  /** The PATH, of which the program gets what it can see; Tutti's own when absent. */
  readonly path?: string | undefined;
  /** Further real paths that appear empty, but for the folders that it may change and toolchains. */
  readonly unseen?: readonly string[];
}

export interface SessionConfinement {
  readonly launcher: Launcher;
  /** What the program finds in the sandbox. These variables are for the program itself. */
  readonly env: Readonly<Record<string, string>>;
}

/** Throws when the program, an absolute path, would not be visible. */
export async function confineSession(
  status: Extract<SandboxStatus, { confined: true }>,
  { cwd, roots, home, hidden, toolchains, covered, git, network, path: given, unseen = [] }: SessionPlace,
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
  // A program of the session's own folders may be a link to anywhere, so it brings no folder into view.
  const place = await realpath(dirname(program)).catch(() => program);
  const isOwn = access.writable.some((root) => isWithin(program, root) || isWithin(place, root));
  const found = await realFolders([...known, ...(isOwn ? [] : await packageOf(program))]);
  const readable = found.filter((folder) => ![...homes, ...unseen].some((each) => isWithin(each, folder)));
  const ownHome = await realpath(home);
  const writable = [...access.writable, ownHome];
  const seen: FolderAccess = {
    ...access,
    hidden: [...new Set([...access.hidden, ...homes, ...unseen])],
    writable: [...writable, ...readable],
  };
  const cover = await coveredParts(covered, cwd);
  const isCovered = (path: string): boolean => [...cover.folders, ...cover.files].some((part) => isWithin(path, part));
  const limits = {
    writable,
    hidden: [...seen.hidden, ...cover.folders, ...(git?.hidden ?? [])],
    blank: access.blank,
    network,
  };
  const protectedFiles = access.before.readOnly.filter((path) => !isCovered(path));
  const path = absoluteFolders(given ?? process.env["PATH"] ?? "")
    .split(delimiter)
    .filter((folder) => isVisible(folder, seen));
  const env = { PATH: path.join(delimiter) };
  if (!isVisible(program, seen)) {
    const why = `${program} is in a folder that a confined session cannot see`;
    throw new TuttiError("not_found", `${why}; name its folder in acp.toolchains of your config`);
  }
  if (status.by === "bubblewrap") {
    const readOnly = [...protectedFiles, ...readable, ...(git?.readOnly ?? [])];
    const replaced = { paths: cover.files, by: join(ownHome, emptySettings) };
    await writeFile(replaced.by, "{}\n");
    return {
      launcher: bubblewrapLauncher(status, { ...limits, readOnly, replaced, binds: git?.binds ?? [], cwd }),
      env: { ...env, TMPDIR: "/tmp" },
    };
  }
  const temporary = join(ownHome, "tmp");
  const blank = [...limits.blank, ...cover.files];
  const options = { ...limits, blank, readOnly: protectedFiles, visible: readable };
  const profile = seatbeltProfile({ ...options, temporary, mayChangeProtected: false });
  return { launcher: seatbeltLauncher(status.program, profile), env: { ...env, TMPDIR: temporary } };
}

/** A link is covered where it leads to. */
async function coveredParts(paths: readonly string[], cwd: string): Promise<{ folders: string[]; files: string[] }> {
  const [folders, files] = [new Set<string>(), new Set<string>()];
  for (const path of paths) {
    const real = await realpath(path).catch(() => undefined);
    if (real === undefined) continue;
    if (isWithin(cwd, real)) throw new TuttiError("refused", `${path} leads to the folder of the session itself`);
    ((await stat(real)).isDirectory() ? folders : files).add(real);
  }
  return { folders: [...folders], files: [...files] };
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
