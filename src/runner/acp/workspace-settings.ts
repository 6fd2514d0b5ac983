// Files of a workspace that tell coding agents what to run: hooks, servers, plugins. A session sees only what a person agreed to.

import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { dirname, join, relative } from "node:path";

import { z } from "zod";

import { readOffLimits } from "../../agent/workspace/off-limits.ts";
import { exactText } from "../../agent/workspace/text-file.ts";
import { readContent, readingFile, withFile } from "../../agent/workspace/workspace-file.ts";
import { sha256, shownLines } from "../../agent/tools/call-look.ts";
import { approvalOutcome } from "../../core/approval.ts";
import { inLine, quoted } from "../../core/foreign-words.ts";
import { TuttiError } from "../../protocol/error.ts";
import { Answer } from "../../protocol/task/ask.ts";
import type { Durable } from "../../ports.ts";
import type { OpenedFolder } from "../shared/session-folder.ts";
import type { LaunchOptions } from "./session-launch.ts";

/** A file with its content: where it is in the project, and the SHA-256 of its text. */
export interface SettingsFile {
  readonly path: string;
  readonly hash: string;
}

/** What a person has agreed to before, file by file. */
export interface TrustedSettings {
  covers(project: string, files: readonly SettingsFile[]): boolean;
  record(project: string, files: readonly SettingsFile[]): Promise<void>;
}

/** What the person has in place of a workspace: agreements are about that, and hold in every workspace that is made of it. */
export interface SettingsOrigin {
  /** The top of the repository, or the folder itself. */
  readonly project: string;
  /** The person's own folder that a workspace mirrors, and the folder of the workspace. */
  readonly mirrors: { readonly original: string; readonly copy: string };
}

export interface SettingsTrust {
  readonly trusted: TrustedSettings | undefined;
  readonly origin: SettingsOrigin;
}

/** Agents execute what is in them without a question, and some read those of others. */
const settingNames = [".claude", ".mcp.json", ".codex", ".gemini", ".opencode", "opencode.json", "opencode.jsonc"];
const mostFiles = 500;

export interface SettingsPlace {
  readonly cwd: string;
  readonly roots: readonly string[];
  /** Further names that a profile has. */
  readonly more: readonly string[];
  /** Folders that nobody may look into. */
  readonly hidden: readonly string[];
  readonly origin: SettingsOrigin;
}

/** Where settings can be: in the folder of the session, and above it as far as its workspace reaches. */
function settingPaths({ cwd, roots, more }: Pick<SettingsPlace, "cwd" | "roots" | "more">): string[] {
  const names = [...settingNames, ...more];
  const paths: string[] = [];
  for (let at = cwd; ; at = dirname(at)) {
    paths.push(...names.map((name) => join(at, name)));
    if (roots.includes(at) || dirname(at) === at) return paths;
  }
}

/** `hash` is null for a file whose whole content cannot be read: nobody can agree to it for good. */
const FoundSettings = z.array(z.object({ path: z.string(), text: z.string(), hash: z.string().nullable() }));
export type FoundSettings = z.infer<typeof FoundSettings>;

/**
 * The paths that a confined session must not see: all of them, unless a person agreed to the content of each file. Then only
 * those where nothing is yet, so that what the session itself puts there does not count in its next process. Called before
 * every process, because the session can change files.
 */
export async function settingsToCover(launch: LaunchOptions, trust: SettingsTrust): Promise<readonly string[]> {
  if (!launch.sandbox.confined) return [];
  const place = placeOf(launch, trust);
  const paths = settingPaths(place);
  const found = trust.trusted === undefined ? [] : await findSettings(place);
  const files = agreeable(found);
  if (found.length === 0 || files === undefined || trust.trusted?.covers(trust.origin.project, files) !== true) {
    return paths;
  }
  return paths.filter((path) => !existsSync(path));
}

/** Nothing can be hidden from an unconfined session, so a person is asked about what it would find. */
export async function agreeToSettings(durable: Durable, launch: LaunchOptions, trust: SettingsTrust): Promise<void> {
  if (launch.sandbox.confined) return;
  const { trusted, origin } = trust;
  const options = { repeatable: true, schema: FoundSettings, looks: true } as const;
  const found = await durable.step("settings.found", options, () => findSettings(placeOf(launch, trust)));
  if (found.length === 0) return;
  // Nobody can agree for good to what is not shown to them.
  const isShown = found.reduce((sum, { text }) => sum + text.length, 0) <= longestShown;
  const files = isShown ? agreeable(found) : undefined;
  const known = agreeable(found);
  if (known !== undefined && trusted?.covers(origin.project, known) === true) return;
  const question = [
    `May ${launch.name} use the settings in ${inLine(origin.project)}? They can make it run programs without asking.`,
    ...(isShown ? [] : ["BEWARE: they are too long to be shown whole. Look at the files before you agree."]),
    ...found.flatMap(({ path, text }) => [`${inLine(path)}:`, ...shownText(text, isShown)]),
    files === undefined
      ? `Some of it cannot be ${isShown ? "read" : "shown"}, so you are asked every time.`
      : "You are not asked again about this content in this project; `tutti trust --revoke` takes it back.",
  ].join("\n");
  const waited = await durable.wait("settings.approval", {
    ask: { kind: "approval", question, details: { profile: launch.name, files: found.map(({ path }) => path) } },
    schema: Answer,
  });
  const outcome = approvalOutcome(waited);
  if (!outcome.approved) throw new TuttiError("refused", `${launch.name} was not started: ${outcome.reason}`);
  if (files !== undefined) await trusted?.record(origin.project, files);
}

function placeOf({ folder: { cwd, roots }, profile, hidden }: LaunchOptions, { origin }: SettingsTrust): SettingsPlace {
  return { cwd, roots, more: profile.settings, hidden, origin };
}

/** How much is shown to its last line, in all files together. */
const longestShown = 256 * 1024;

/** One line in the middle is enough to do harm. */
function shownText(text: string, isShown: boolean): string[] {
  const lines = quoted(text).split("\n");
  return isShown ? lines : shownLines(lines);
}

/** Undefined when the content of some file cannot be agreed to. */
function agreeable(found: FoundSettings): readonly SettingsFile[] | undefined {
  const files = found.flatMap(({ path, hash }) => (hash === null ? [] : [{ path, hash }]));
  return files.length === found.length ? files : undefined;
}

/** What cannot be read counts with the reason; what does not exist does not count. */
export async function findSettings(place: SettingsPlace): Promise<FoundSettings> {
  const { project, mirrors } = place.origin;
  const paths = (await Promise.all(settingPaths(place).map(filesAt))).flat();
  if (paths.length > mostFiles + settingPaths(place).length) {
    throw new TuttiError("too_large", `the workspace has more than ${mostFiles} files with settings for coding agents`);
  }
  const found: FoundSettings = [];
  for (const path of paths) {
    const read = await readSetting(path, place);
    if (read === undefined) continue;
    const original = join(mirrors.original, relative(mirrors.copy, path));
    found.push({ path: relative(project, original), ...read });
  }
  return found;
}

/** The file itself, or the files of the folder. */
async function filesAt(path: string): Promise<string[]> {
  const entries = await readdir(path, { recursive: true, withFileTypes: true }).catch(() => undefined);
  if (entries === undefined) return [path];
  return entries.flatMap((entry) => (entry.isDirectory() ? [] : [join(entry.parentPath, entry.name)])).toSorted();
}

async function readSetting(
  path: string,
  { roots, hidden }: SettingsPlace,
): Promise<{ readonly text: string; readonly hash: string | null } | undefined> {
  const use = { roots, offLimits: readOffLimits(hidden), to: "read" } as const;
  try {
    const { bytes, mark } = await withFile(path, use, (file) => readingFile(file, readContent));
    const text = bytes === undefined ? undefined : exactText(bytes);
    if (text !== undefined) return { text, hash: sha256(text) };
    // A file that is too large is known by its size and time alone.
    return { text: `not text: ${mark}`, hash: bytes === undefined ? null : sha256(mark) };
  } catch (thrown) {
    const why = thrown instanceof Error ? thrown.message : String(thrown);
    const isMissing = (thrown instanceof TuttiError && thrown.code === "not_found") || /ENOENT|ENOTDIR/.test(why);
    return isMissing ? undefined : { text: `cannot be read: ${why}`, hash: null };
  }
}

/** Which of the person's folders the session's folder stands for. */
export function settingsOrigin({ workspace, folder }: OpenedFolder): SettingsOrigin {
  if (workspace === undefined) {
    const [root = folder.cwd] = folder.roots;
    return { project: root, mirrors: { original: root, copy: root } };
  }
  const { mode, repository, project, folder: copy } = workspace;
  const top = repository ?? project;
  const original = mode === "worktree" ? top : mode === "copy" ? project : copy;
  return { project: top, mirrors: { original, copy } };
}
