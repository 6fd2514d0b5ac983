// Remembers which settings for coding agents the person has agreed to, file by file, in the document `trusted-settings.json`.

import { realpath } from "node:fs/promises";

import { z } from "zod";

import type { AgentSettingsView, TrustedSetting } from "../../host/project.ts";
import { TuttiError } from "../../protocol/error.ts";
import { parseJson } from "../../protocol/json/parse-json.ts";
import type { Profiles } from "../../runner/acp/profile.ts";
import { findSettings, type SettingsFile, type TrustedSettings } from "../../runner/acp/workspace-settings.ts";
import { documentsOf } from "../documents/documents-of.ts";
import { repositoryTop } from "../../workspace/index.ts";

/** `by` says who agreed, where several people share the document. */
const Agreed = z.strictObject({ path: z.string(), hash: z.string(), at: z.number(), by: z.string().optional() });
export const SettingsFileSchema = z.strictObject({ projects: z.record(z.string(), z.array(Agreed)) });
type Projects = z.infer<typeof SettingsFileSchema>["projects"];

export interface KeptSettings extends TrustedSettings {
  list(): TrustedSetting[];
  /** Takes back every agreement about the project; false when there was none. */
  revoke(project: string): Promise<boolean>;
}

const name = "trusted-settings.json";

/** Reads the document at every question, because a command or another node may change it while a daemon runs. */
export function openTrustedSettings(state: string): KeptSettings {
  const parse = (text: string | undefined): Projects => {
    if (text === undefined) return {};
    const parsed = SettingsFileSchema.safeParse(parseJson(text));
    if (parsed.success) return parsed.data.projects;
    const place = documentsOf(state).placeOf(name);
    throw new TuttiError("corrupt", `${place} cannot be read; remove it and trust your projects again`);
  };
  const written = (projects: Projects): string => `${JSON.stringify({ projects }, null, 2)}\n`;
  const read = (): Projects => parse(documentsOf(state).read(name));
  const nameOf = (project: string): string => documentsOf(state).projectOf(project);
  const agreedIn = (projects: Projects, project: string): Projects[string] => {
    const known = nameOf(project);
    return (Object.hasOwn(projects, known) ? projects[known] : undefined) ?? [];
  };
  const change = (work: (before: Projects) => Projects): Promise<void> =>
    documentsOf(state).change(name, (text) => {
      return { after: written(work(parse(text))), result: undefined };
    });
  return {
    covers(project, files) {
      const agreed = agreedIn(read(), project);
      return files.every((file) => agreed.some(isSame(file)));
    },
    record(project, files) {
      const { by } = documentsOf(state);
      return change((projects) => {
        const agreed = agreedIn(projects, project);
        const added = files.filter((file) => !agreed.some(isSame(file)));
        const at = Date.now();
        return {
          ...projects,
          [nameOf(project)]: [...agreed, ...added.map(({ path, hash }) => ({ path, hash, at, by }))],
        };
      });
    },
    list: () => Object.entries(read()).flatMap(([folder, agreed]) => agreed.map((each) => ({ folder, ...each }))),
    revoke: (project) =>
      documentsOf(state).takeBack(name, (text) => {
        const projects = parse(text);
        if (agreedIn(projects, project).length === 0) return { result: false };
        const { [nameOf(project)]: _, ...others } = projects;
        return { after: written(others), result: true };
      }),
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
