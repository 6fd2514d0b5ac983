// What the process that does the work has to work with: its version, its sandbox, and the keys of its providers.

import { homedir } from "node:os";
import { resolve } from "node:path";

import { providerNames, resolveProvider } from "../../model/resolve-model.ts";
import type { ProviderSetup, ServiceSetup } from "../../protocol/api/service.ts";
import { probeSandbox } from "../../runner/shared/sandbox/sandbox-status.ts";
import { type KeySources, keySources } from "../secrets/provider-keys.ts";
import { version } from "../version.ts";
import { effectiveConfig } from "./effective-config.ts";
import { projectFolder } from "./project-folder.ts";
import { modelNames } from "./project-models.ts";
import { loadUserConfig } from "./user-config.ts";
import type { ModelsConfig } from "../../model/models-config.ts";

export interface SetupSubject {
  readonly state: string;
  /** A folder in a project; without one, only the user's own config counts. */
  readonly folder?: string | undefined;
}

let probed: ReturnType<typeof probeSandbox> | undefined;

export async function describeSetup(subject: SetupSubject): Promise<ServiceSetup> {
  const [config, sandbox] = await Promise.all([modelsOf(subject), (probed ??= probeSandbox())]);
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
  };
}

async function modelsOf({ state, folder }: SetupSubject): Promise<ModelsConfig> {
  const home = homedir();
  if (folder === undefined) return (await loadUserConfig(home)).models;
  return (await effectiveConfig(projectFolder(resolve(folder), home), state)).models;
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
