// What `tutti trust` does: shows a config without executing it, records that it may be used, and says what it then sets.

import { relative } from "node:path";

import type { ConfigSettings, ConfigView } from "../../host/project.ts";
import { TuttiError } from "../../protocol/error.ts";
import { settingsOf } from "./ask-for-trust.ts";
import { readConfigFiles } from "./config-files.ts";
import { configServers } from "./config-servers.ts";
import { loadConfig } from "./project-config.ts";
import { openTrust } from "./trusted-configs.ts";

export function viewConfig(project: string, state: string): ConfigView | undefined {
  const found = readConfigFiles(project);
  if (found === undefined) return undefined;
  const { folder, file, hash, packages } = found;
  const files = [...found.files.keys()].map((path) => relative(folder, path)).toSorted();
  const trusted = openTrust(state).isTrusted(found);
  return { folder, file, hash, files, packages, trusted, sets: settingsOf(found), servers: configServers(found) };
}

/** Records nothing when the config cannot be used, or has changed since it was shown (`conflict`). */
export async function trustConfig(project: string, state: string, hash: string): Promise<ConfigSettings> {
  const found = readConfigFiles(project);
  if (found === undefined) throw new TuttiError("not_found", `${project} has no config; there is nothing to trust`);
  if (found.hash !== hash) throw new TuttiError("conflict", `${found.file} has just changed; look at it again`);
  const { config, tools, runners, process } = await loadConfig(found);
  process?.close();
  await openTrust(state).record(found);
  return {
    tools: tools.map(({ name, effects }) => ({ name, effects })),
    runners: runners.map(({ kind }) => kind),
    approvals: config.approvals ?? {},
    providers: Object.keys(config.models.providers),
    default_model: config.models.default ?? null,
    workspaces: config.workspaces,
    checks: config.checks.map(({ name, run }) => ({ name, run })),
  };
}
