// Asks a person before a session starts in a folder whose own files tell the agent what to run: hooks, servers, permissions.

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

const Settings = z.object({ hash: z.string(), files: z.array(z.object({ path: z.string(), text: z.string() })) });
type Settings = z.infer<typeof Settings>;

export async function approveSettings(
  durable: Durable,
  launch: LaunchOptions,
  trusted?: TrustedSettings,
): Promise<void> {
  if (launch.profile.settings.length === 0) return;
  const options = { repeatable: true, schema: Settings, looks: true } as const;
  const { hash, files } = await durable.step("settings", options, () => settingsIn(launch));
  if (files.length === 0 || trusted?.isTrusted(hash) === true) return;
  const question = [
    `May ${launch.name} use the settings in ${escapeInvisible(launch.folder.cwd)}? They can make it run programs and change what it asks about.`,
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
}

/** A file that is no text, or cannot be read, counts with its state; one that does not exist does not count. */
async function settingsIn({ profile, folder, hidden }: LaunchOptions): Promise<Settings> {
  const use = { roots: folder.roots, offLimits: readOffLimits(hidden), to: "read" } as const;
  const found = await Promise.all(
    profile.settings.map(async (path) => {
      try {
        const { bytes, mark } = await withFile(`${folder.cwd}/${path}`, use, (file) => readingFile(file, readContent));
        const text = bytes === undefined ? undefined : exactText(bytes);
        return [{ path, text: text ?? `not text: ${mark}` }];
      } catch (thrown) {
        if (thrown instanceof TuttiError && thrown.code === "not_found") return [];
        const why = thrown instanceof Error ? thrown.message : String(thrown);
        return /ENOENT|ENOTDIR/.test(why) ? [] : [{ path, text: `cannot be read: ${why}` }];
      }
    }),
  );
  const files = found.flat();
  return { hash: sha256(JSON.stringify(files)), files };
}
