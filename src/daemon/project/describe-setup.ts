// What the process that does the work has to work with: its version, its sandbox, the keys of its providers, and its limits.

import { homedir } from "node:os";
import { resolve } from "node:path";

import { defaultSlots } from "../../engine/engine-options.ts";
import { providerNames, resolveProvider } from "../../model/resolve-model.ts";
import type { ProviderSetup, ServiceLimits, ServiceSetup } from "../../protocol/api/service.ts";
import { defaultBudget } from "../../protocol/task/budget.ts";
import { probeSandbox } from "../../runner/shared/sandbox/sandbox-status.ts";
import { type KeySources, keySources } from "../secrets/provider-keys.ts";
import { neededSpace } from "../state/disk-space.ts";
import { version } from "../version.ts";
import { effectiveConfig } from "./effective-config.ts";
import { dayLimitsOf } from "./limits-config.ts";
import { projectFolder } from "./project-folder.ts";
import { modelNames } from "./project-models.ts";
import { loadUserConfig, type UserConfig } from "./user-config.ts";
import { setupCacheOf } from "./workspaces-config.ts";
import type { ModelsConfig } from "../../model/models-config.ts";

export interface SetupSubject {
  readonly state: string;
  /** A folder in a project; without one, only the user's own config counts. */
  readonly folder?: string | undefined;
  /** How much of the disk the process wants to be free, when it was told. */
  readonly minFreeBytes?: number | undefined;
}

const dayMs = 86_400_000;

let probed: ReturnType<typeof probeSandbox> | undefined;

export async function describeSetup(subject: SetupSubject): Promise<ServiceSetup> {
  const [user, sandbox] = await Promise.all([loadUserConfig(homedir()), (probed ??= probeSandbox())]);
  const config = await modelsOf(user, subject);
  const keys = keySources(subject.state);
  return {
    version,
    node: process.versions.node,
    platform: process.platform,
    sandbox: sandbox.confined
      ? { confined: true, said: `${sandbox.by} ${sandbox.version}` }
      : { confined: false, said: sandbox.reason },
    default_model: modelNames(config, keys).fallback,
    providers: describeProviders(config, keys),
    limits: describeLimits(user, subject),
  };
}

async function modelsOf(user: UserConfig, { state, folder }: SetupSubject): Promise<ModelsConfig> {
  if (folder === undefined) return user.models;
  return (await effectiveConfig(projectFolder(resolve(folder), homedir()), state)).models;
}

function describeLimits(
  { workspaces, sessions, limits }: UserConfig,
  { state, minFreeBytes }: SetupSubject,
): ServiceLimits {
  const cache = setupCacheOf(state, workspaces);
  const day = dayLimitsOf(limits);
  return {
    budget: defaultBudget,
    slots: defaultSlots,
    day: { tokens: day.tokens ?? null, money_micro_usd: day.money_micro_usd ?? null },
    min_free_bytes: neededSpace(state, minFreeBytes) ?? null,
    workspaces: { max_bytes: workspaces.max_size ?? null, keep_days: workspaces.keep_days ?? null },
    setup_cache: { max_bytes: cache.maxBytes, keep_days: cache.maxAgeMs / dayMs },
    sessions: { idle_after_ms: sessions.idle_after ?? null, max_failures: sessions.max_failures },
  };
}

/** Those that need a key. A provider that cannot be used is left out; whoever calls a model of it gets the error. */
function describeProviders(config: ModelsConfig, keys: KeySources): ProviderSetup[] {
  return providerNames(config).flatMap((provider) => {
    try {
      const { keyEnv, keyFrom } = resolveProvider({ config, ...keys }, provider);
      return keyEnv.length === 0 ? [] : [{ provider, key_env: [...keyEnv], key_from: keyFrom?.from ?? null }];
    } catch {
      return [];
    }
  });
}
