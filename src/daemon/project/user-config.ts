// The user's own config, `~/.tutti/tutti.config.*`: models, approvals, workspaces and sessions for all projects, what a day may cost, and who is notified.

import { join, sep } from "node:path";

import type { ModelsConfig } from "../../model/models-config.ts";
import type { ApprovalRules } from "../../protocol/invocation/approval-policy.ts";
import { TuttiError } from "../../protocol/error.ts";
import { describeIssues, issuesOf } from "../../protocol/lenient-read.ts";
import type { AcpSettings } from "../../runner/acp/settings.ts";
import type { McpServers } from "../../protocol/invocation/mcp-servers.ts";
import { NotifyConfig } from "../notify/notify-config.ts";
import { type ConfigFiles, readConfigFiles } from "./config-files.ts";
import type { LimitsConfig } from "./limits-config.ts";
import { loadConfig } from "./project-config.ts";
import { SessionsConfig } from "./sessions-config.ts";
import type { WorkspacesConfig } from "./workspaces-config.ts";

export interface UserConfig {
  /** Undefined when the user has none. */
  readonly file: string | undefined;
  /** Changes with the content. */
  readonly version: string;
  readonly models: ModelsConfig;
  readonly approvals: ApprovalRules | undefined;
  readonly acp: AcpSettings;
  readonly notifications: NotifyConfig;
  readonly workspaces: WorkspacesConfig;
  readonly sessions: SessionsConfig;
  /** What all work of a state may use in a day. */
  readonly limits: LimitsConfig;
  readonly mcpServers: McpServers;
  /** The names of variables that MCP servers of projects may have. */
  readonly mcpVariables: readonly string[];
}

/**
 * Nobody is asked to trust the user's config, so no agent may be able to change it: its folder is protected in every
 * workspace, and a file elsewhere is not. The config itself may be a link, because its name is protected everywhere.
 */
export function readUserFiles(home: string): ConfigFiles | undefined {
  const files = readConfigFiles(join(home, ".tutti"));
  if (files === undefined) return undefined;
  const { folder, file } = files;
  const outside = [...files.files.keys(), ...files.packageFiles.keys()].find(
    (path) => path !== file && !path.startsWith(`${folder}${sep}`),
  );
  if (outside === undefined) return files;
  const why = `${outside} lies outside of ${folder}, where an agent that works there could change it`;
  throw new TuttiError("refused", `${file} is not used: ${why}; move what your config imports into ${folder}`);
}

/** The files must belong to the user, and that is checked (`refused`). */
export async function loadUserConfig(home: string): Promise<UserConfig> {
  const files = readUserFiles(home);
  const { file, config, tools, runners, process } = await loadConfig(files, "user");
  process?.close();
  for (const [name, listed] of Object.entries({ tools, runners, checks: config.checks })) {
    if (listed.length === 0) continue;
    throw new TuttiError("invalid_input", `${file}: ${name} are part of a project; put them into the project's config`);
  }
  const notifications = NotifyConfig.safeParse(config.notifications ?? {});
  if (!notifications.success) {
    throw new TuttiError("invalid_input", `${file}: notifications: ${describeIssues(issuesOf(notifications.error))}`);
  }
  const {
    models,
    approvals,
    acp,
    workspaces,
    mcpServers,
    mcp,
    sessions = SessionsConfig.parse({}),
    limits = {},
  } = config;
  const version = files?.hash ?? "";
  return {
    file,
    version,
    models,
    approvals,
    acp,
    notifications: notifications.data,
    workspaces,
    sessions,
    limits,
    mcpServers,
    mcpVariables: mcp?.variables ?? [],
  };
}

/** Calls `loadUserConfig` again only when the content has changed. */
export function cachedUserConfig(home: string): () => Promise<UserConfig> {
  let known: { readonly version: string; readonly loading: Promise<UserConfig> } | undefined;
  return () => {
    const version = readUserFiles(home)?.hash ?? "";
    if (known?.version === version) return known.loading;
    const loading = loadUserConfig(home);
    known = { version, loading };
    loading.catch(() => {
      if (known?.loading === loading) known = undefined;
    });
    return loading;
  };
}

/** What a project sets takes precedence over what the user sets, name by name. */
export function mergeModels(user: ModelsConfig, project: ModelsConfig): ModelsConfig {
  const standard = project.default ?? user.default;
  return {
    ...(standard === undefined ? {} : { default: standard }),
    providers: { ...user.providers, ...project.providers },
    aliases: { ...user.aliases, ...project.aliases },
    fallbacks: { ...user.fallbacks, ...project.fallbacks },
    models: { ...user.models, ...project.models },
    prices: { ...user.prices, ...project.prices },
  };
}
