// Remembers which settings for coding agents the person has agreed to, file by file, in `trusted-settings.json` of the state folder.

import { realpath } from "node:fs/promises";
import { join } from "node:path";

import { z } from "zod";

import { replacePrivateFile } from "../../files/private-file.ts";
import { readOptionalFile } from "../../files/read-optional-file.ts";
import type { AgentSettingsView, TrustedSetting } from "../../host/project.ts";
import { TuttiError } from "../../protocol/error.ts";
import { parseJson } from "../../protocol/json/parse-json.ts";
import type { Profiles } from "../../runner/acp/profile.ts";
import { findSettings, type SettingsFile, type TrustedSettings } from "../../runner/acp/workspace-settings.ts";
import { makeFolder } from "../../store/sqlite/database.ts";
import { withShortLock } from "../../store/sqlite/short-lock.ts";
import { repositoryTop } from "../../workspace/index.ts";

const Agreed = z.strictObject({ path: z.string(), hash: z.string(), at: z.number() });
const SettingsFileSchema = z.strictObject({ projects: z.record(z.string(), z.array(Agreed)) });
type Projects = z.infer<typeof SettingsFileSchema>["projects"];

export interface KeptSettings extends TrustedSettings {
  list(): TrustedSetting[];
  /** Takes back every agreement about the project; false when there was none. */
  revoke(project: string): boolean;
}

/** Reads the file at every question, because a command may change it while a daemon runs. */
export function openTrustedSettings(state: string): KeptSettings {
  const path = join(state, "trusted-settings.json");
  const read = (): Projects => {
    const text = readOptionalFile(path);
    if (text === undefined) return {};
    const parsed = SettingsFileSchema.safeParse(parseJson(text));
    if (parsed.success) return parsed.data.projects;
    throw new TuttiError("corrupt", `${path} cannot be read; remove it and trust your projects again`);
  };
  const agreedIn = (projects: Projects, project: string): Projects[string] =>
    (Object.hasOwn(projects, project) ? projects[project] : undefined) ?? [];
  const change = (work: (before: Projects) => Projects): void => {
    makeFolder(state);
    withShortLock(`${path}.lock`, () => {
      replacePrivateFile(path, `${JSON.stringify({ projects: work(read()) }, null, 2)}\n`);
    });
  };
  return {
    covers(project, files) {
      const agreed = agreedIn(read(), project);
      return files.every((file) => agreed.some(isSame(file)));
    },
    record(project, files) {
      change((projects) => {
        const agreed = agreedIn(projects, project);
        const added = files.filter((file) => !agreed.some(isSame(file)));
        const at = Date.now();
        return {
          ...projects,
          [project]: [...agreed, ...added.map(({ path: name, hash }) => ({ path: name, hash, at }))],
        };
      });
    },
    list: () => Object.entries(read()).flatMap(([folder, agreed]) => agreed.map((each) => ({ folder, ...each }))),
    revoke(project) {
      if (agreedIn(read(), project).length === 0) return false;
      change((projects) => Object.fromEntries(Object.entries(projects).filter(([name]) => name !== project)));
      return true;
    },
  };
}

const isSame =
  ({ path, hash }: SettingsFile) =>
  (other: SettingsFile): boolean =>
    other.path === path && other.hash === hash;

/** What sessions that begin in the folder would find, as it is in the person's own checkout now. */
export async function viewAgentSettings(
  from: string,
  { state, profiles }: { readonly state: string; readonly profiles: Profiles },
): Promise<AgentSettingsView> {
  const cwd = await realpath(from);
  const project = await settingsProject(cwd);
  const trusted = openTrustedSettings(state);
  const found = await findSettings({
    cwd,
    roots: [project],
    more: [...new Set(Object.values(profiles).flatMap(({ settings }) => settings))],
    hidden: [state],
    origin: { project, mirrors: { original: project, copy: project } },
  });
  const files = found.map(({ path, text, hash }) => {
    return { path, text, hash, trusted: hash !== null && trusted.covers(project, [{ path, hash }]) };
  });
  return { project, files };
}

/** Agreements are about a whole repository, in whichever folder of it a session begins. */
export async function settingsProject(folder: string): Promise<string> {
  return (await repositoryTop(folder)) ?? (await realpath(folder));
}
