// The config that counts in a project now: the user's own with the project's over it, if the project's is trusted.

import { homedir } from "node:os";

import type { ModelsConfig } from "../../model/models-config.ts";
import type { RunnerView } from "../../protocol/api/catalog.ts";
import { builtinRunners } from "../../protocol/invocation/runner-kinds.ts";
import type { Profiles } from "../../runner/acp/profile.ts";
import { AcpSettings, mergeAcpSettings } from "../../runner/acp/settings.ts";
import type { ProjectCheck } from "./checks-config.ts";
import { missingProblem, untrusted } from "./ask-for-trust.ts";
import { readConfigFiles } from "./config-files.ts";
import type { LimitsConfig } from "./limits-config.ts";
import { type Config, loadConfig } from "./project-config.ts";
import { openTrust } from "./trusted-configs.ts";
import { loadUserConfig, mergeModels } from "./user-config.ts";

export interface EffectiveConfig {
  /** The project's config file; undefined when there is none. */
  readonly file: string | undefined;
  /** The project's own settings; undefined when there is no config, or one that is not trusted. */
  readonly own: Config | undefined;
  readonly runners: readonly RunnerView[];
  readonly models: ModelsConfig;
  /** The checks of the project: they run without anybody being asked. */
  readonly checks: readonly ProjectCheck[];
  /** The profiles of coding agents, the built-in ones included. */
  readonly profiles: Profiles;
  /** What the user allows for a day, over all projects. */
  readonly limits: LimitsConfig;
  /** Why the project's config was not used. */
  readonly problem?: string;
}

const builtin: readonly RunnerView[] = builtinRunners.map((runner) => ({ ...runner, of: "builtin" }));

/** Executes a config that is trusted, and no other. */
export async function effectiveConfig(project: string, state: string): Promise<EffectiveConfig> {
  const user = await loadUserConfig(homedir());
  const files = readConfigFiles(project);
  const own = {
    limits: user.limits,
    models: user.models,
    checks: [],
    profiles: mergeAcpSettings(user.acp, AcpSettings.parse({})).profiles,
  };
  const trust = openTrust(state);
  if (files === undefined) {
    const problem = trust.misses(project) ? { problem: missingProblem(project) } : {};
    return { file: undefined, own: undefined, runners: builtin, ...own, ...problem };
  }
  if (!trust.isTrusted(files)) {
    const problem = untrusted(files, "nobody has agreed to it as it is now").message;
    return { file: files.file, own: undefined, runners: builtin, ...own, problem };
  }
  const { file, config, runners, process } = await loadConfig(files);
  process?.close();
  const registered = runners.map(({ kind, runtime, description }) => ({
    kind,
    runtime,
    description,
    of: "project" as const,
  }));
  return {
    file,
    own: config,
    runners: [...builtin, ...registered],
    models: mergeModels(user.models, config.models),
    limits: user.limits,
    checks: config.checks,
    profiles: mergeAcpSettings(user.acp, config.acp).profiles,
  };
}
