// Files of a workspace that tell coding agents what to run: hooks, servers, plugins. A session sees only what a person agreed to.

import { readdir } from "node:fs/promises";
import { dirname, join, relative } from "node:path";

import { z } from "zod";

import { readOffLimits } from "../../agent/workspace/off-limits.ts";
import { exactText } from "../../agent/workspace/text-file.ts";
import { readContent, readingFile, withFile } from "../../agent/workspace/workspace-file.ts";
import { sha256, shownLines } from "../../agent/tools/call-look.ts";
import { approvalOutcome } from "../../core/approval.ts";
import { escapeInvisible } from "../../core/escape-invisible.ts";
import { TuttiError } from "../../protocol/error.ts";
import { Answer } from "../../protocol/task/ask.ts";
import type { Durable } from "../../ports.ts";
import type { LaunchOptions } from "./session-launch.ts";

/** What a person has agreed to before, by the content of all files together. */
export interface TrustedSettings {
  isTrusted(hash: string): boolean;
  record(hash: string): void;
}

/** Agents execute what is in them without a question, and some read those of others. */
const settingNames = [".claude", ".mcp.json", ".codex", ".gemini", ".opencode", "opencode.json", "opencode.jsonc"];
const mostFiles = 500;

/** Where settings can be: in the folder of the session, and above it as far as its workspace reaches. */
function settingPaths({ folder: { cwd, roots }, profile }: Pick<LaunchOptions, "folder" | "profile">): string[] {
  const names = [...settingNames, ...profile.settings];
  const paths: string[] = [];
  for (let at = cwd; ; at = dirname(at)) {
    paths.push(...names.map((name) => join(at, name)));
    if (roots.includes(at) || dirname(at) === at) return paths;
  }
}

const Settings = z.object({ hash: z.string(), files: z.array(z.object({ path: z.string(), text: z.string() })) });
type Settings = z.infer<typeof Settings>;

/**
 * Returns the paths that a confined session must not see: all of them, unless a person agreed to their content. Nothing can
 * be hidden from an unconfined one, so a person is asked.
 */
export async function settingsToCover(
  durable: Durable,
  launch: LaunchOptions,
  trusted?: TrustedSettings,
): Promise<readonly string[]> {
  const options = { repeatable: true, schema: Settings, looks: true } as const;
  const { hash, files } = await durable.step("settings", options, () => settingsIn(launch));
  if (files.length > 0 && trusted?.isTrusted(hash) === true) return [];
  if (launch.sandbox.confined) return settingPaths(launch);
  if (files.length === 0) return [];
  const question = [
    `May ${launch.name} use the settings in ${escapeInvisible(launch.folder.cwd)}? They can make it run programs without asking.`,
    ...files.flatMap(({ path, text }) => [`${escapeInvisible(path)}:`, ...shownLines(text.split("\n"))]),
    `the SHA-256 of all of them is ${hash}`,
  ].join("\n");
  const waited = await durable.wait("settings.approval", {
    ask: { kind: "approval", question, details: { profile: launch.name, hash, files: files.map(({ path }) => path) } },
    schema: Answer,
  });
  const outcome = approvalOutcome(waited);
  if (!outcome.approved) throw new TuttiError("refused", `${launch.name} was not started: ${outcome.reason}`);
  trusted?.record(hash);
  return [];
}

/** What cannot be read counts with the reason; what does not exist does not count. */
async function settingsIn(launch: LaunchOptions): Promise<Settings> {
  const found = await Promise.all(settingPaths(launch).map(filesAt));
  const paths = found.flat();
  if (paths.length > mostFiles) {
    throw new TuttiError("too_large", `the workspace has more than ${mostFiles} files with settings for coding agents`);
  }
  const files: Settings["files"] = [];
  for (const path of paths) {
    const text = await textAt(path, launch);
    if (text !== undefined) files.push({ path: relative(launch.folder.cwd, path), text });
  }
  return { hash: sha256(JSON.stringify(files)), files };
}

/** The file itself, or the files of the folder. */
async function filesAt(path: string): Promise<string[]> {
  const entries = await readdir(path, { recursive: true, withFileTypes: true }).catch(() => undefined);
  if (entries === undefined) return [path];
  return entries.flatMap((entry) => (entry.isDirectory() ? [] : [join(entry.parentPath, entry.name)])).toSorted();
}

async function textAt(path: string, { folder, hidden }: LaunchOptions): Promise<string | undefined> {
  const use = { roots: folder.roots, offLimits: readOffLimits(hidden), to: "read" } as const;
  try {
    const { bytes, mark } = await withFile(path, use, (file) => readingFile(file, readContent));
    return (bytes === undefined ? undefined : exactText(bytes)) ?? `not text: ${mark}`;
  } catch (thrown) {
    const why = thrown instanceof Error ? thrown.message : String(thrown);
    const isMissing = (thrown instanceof TuttiError && thrown.code === "not_found") || /ENOENT|ENOTDIR/.test(why);
    return isMissing ? undefined : `cannot be read: ${why}`;
  }
}
