// What `tutti init` does: finds models, coding agents and checks, and writes a config and a policy for the project.

import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { defaultPolicyFrom } from "../../core/default-policy-from.ts";
import { isRehearsalName } from "../../core/rehearsal-name.ts";
import { policyText } from "../../core/policy-text.ts";
import { projectConfigText, type ProposedModels } from "../../core/project-config-text.ts";
import { proposeChecks } from "../../core/propose-checks.ts";
import type { InitOptions, InitResult, WrittenFile } from "../../host/project.ts";
import type { ModelsConfig } from "../../model/models-config.ts";
import { thrownMessage, TuttiError } from "../../protocol/error.ts";
import type { Profiles } from "../../runner/acp/profile.ts";
import { agentProgram } from "../../runner/acp/session-launch.ts";
import { keySources } from "../secrets/provider-keys.ts";
import { configNames, readConfigFiles } from "./config-files.ts";
import { detectServers, type FoundServer } from "./detect-servers.ts";
import { effectiveConfig } from "./effective-config.ts";
import { loadConfig } from "./project-config.ts";
import { listModels } from "./project-models.ts";
import { findPolicyFile, policyPath, trustPolicy } from "./project-policy.ts";
import { openTrust } from "./trusted-configs.ts";

export interface InitSubject {
  readonly project: string;
  readonly state: string;
  readonly home: string;
}

const configName = "tutti.config.jsonc";
const probeMs = 1_500;
const maxBytes = 1024 * 1024;

/** Writes only what is not there, unless `force`, and trusts what it wrote: the person asked for it and is shown it. */
export async function initProject(subject: InitSubject, options: InitOptions): Promise<InitResult> {
  const { project, state, home } = subject;
  if (project === home) {
    throw new TuttiError("usage", `${project} is your home folder and no project; run it in the folder of a project`);
  }
  const { models: config, profiles } = await effectiveConfig(project, state);
  const [servers, agents] = await Promise.all([
    detectServers({ timeoutMs: probeMs, signal: options.signal }, options.servers),
    installedAgents(profiles),
  ]);
  const proposed = proposeChecks((name) => readProjectFile(join(project, name)));
  const usable = await listModels(config, keySources(state), { probe: false });
  const chosen = chooseModels(
    usable.some((model) => model.default && model.provider !== "rehearsal"),
    servers,
    config,
  );
  const models = await listModels(withModels(config, chosen), keySources(state), { probe: false });
  const policy = defaultPolicyFrom(models);
  const filesWith = (each: InitOptions): WrittenFile[] => [
    writeConfig(subject, each, projectConfigText(proposed, chosen)),
    isRehearsalName(policy.policy.router)
      ? leaveOutPolicy(subject)
      : writePolicy(subject, each, policyText(policy, { agents })),
  ];
  if (options.shown !== undefined) requireShown(options.shown, filesWith({ ...options, dryRun: true }));
  const files = filesWith(options);
  if (!options.dryRun) await trustWritten(subject, files);
  const keys = [
    ...new Set(models.filter(({ key, key_from }) => key && key_from !== null).map(({ provider }) => provider)),
  ];
  return {
    folder: project,
    files,
    model: models.find((model) => model.default && model.provider !== "rehearsal")?.model ?? null,
    providers: keys.map((name) => ({
      name,
      key_from: models.find(({ provider }) => provider === name)?.key_from ?? null,
    })),
    servers,
    agents,
    checks: proposed.checks.map(({ name, run, from, doubt }) => ({ name, run, from, doubt: doubt ?? null })),
    setup: proposed.setup.map(({ run, from, doubt }) => ({ run, from, doubt: doubt ?? null })),
    policy,
    git: existsSync(join(project, ".git")),
  };
}

/** The project or the machine may have changed while the person read. */
function requireShown(shown: readonly WrittenFile[], now: readonly WrittenFile[]): void {
  const same = now.every(({ file, text }, index) => shown[index]?.file === file && shown[index].text === text);
  if (same) return;
  const message = "nothing was written: what `tutti init` finds has changed since it was shown; start again";
  throw new TuttiError("conflict", message);
}

/** A server is set up only when nothing else is: a project must not begin to send its work elsewhere. */
function chooseModels(hasModel: boolean, servers: readonly FoundServer[], config: ModelsConfig): ProposedModels {
  const [first] = servers;
  if (hasModel || first === undefined) return { standard: undefined, providers: [], needed: false };
  const known = (name: string): boolean => name === "ollama" || Object.hasOwn(config.providers, name);
  const providers = servers.filter(({ name }) => !known(name)).map(({ name, base_url }) => ({ name, base_url }));
  return { standard: `${first.name}/${first.models[0]}`, providers, needed: true };
}

function withModels(config: ModelsConfig, { standard, providers }: ProposedModels): ModelsConfig {
  const added = providers.map(
    ({ name, base_url }) => [name, { kind: "openai-compatible", base_url, key_env: null }] as const,
  );
  return {
    ...config,
    ...(standard === undefined ? {} : { default: standard }),
    providers: { ...Object.fromEntries(added), ...config.providers },
  };
}

async function installedAgents(profiles: Profiles): Promise<string[]> {
  const found = await Promise.all(
    Object.entries(profiles).map(async ([name, profile]) =>
      (await agentProgram(name, profile, "/").catch(() => undefined)) === undefined ? [] : [name],
    ),
  );
  return found.flat();
}

/** Undefined for what is no file, and for one that is too large to be what its name says. */
function readProjectFile(path: string): string | undefined {
  try {
    const found = statSync(path, { throwIfNoEntry: false });
    return found?.isFile() === true && found.size <= maxBytes ? readFileSync(path, "utf8") : undefined;
  } catch {
    return undefined;
  }
}

function writeConfig({ project }: InitSubject, options: InitOptions, text: string): WrittenFile {
  const existing = configNames.map((name) => join(project, name)).find((path) => existsSync(path));
  const file = join(project, configName);
  if (existing === undefined || (existing === file && options.force)) return write(file, text, options);
  const why = existing === file ? "it is there already" : "the project has this config already";
  return { file: existing, state: "kept", why, text: null };
}

function writePolicy({ project }: InitSubject, options: InitOptions, text: string): WrittenFile {
  const file = join(project, policyPath);
  if (existsSync(file) && !options.force) return { file, state: "kept", why: "it is there already", text: null };
  return write(file, text, options);
}

/** A policy with the rehearsal in every role would still rehearse when there is a model. */
function leaveOutPolicy({ project }: InitSubject): WrittenFile {
  const file = join(project, policyPath);
  if (existsSync(file)) return { file, state: "kept", why: "it is there already", text: null };
  const why = "there is no model yet, and a policy says which model does what";
  return { file, state: "left out", why, text: null };
}

function write(file: string, text: string, { dryRun }: InitOptions): WrittenFile {
  if (existsSync(file) && readProjectFile(file) === text) {
    return { file, state: "kept", why: "it is as it would be written", text: null };
  }
  const state = existsSync(file) ? "replaced" : "written";
  if (dryRun) return { file, state, why: "", text };
  try {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  } catch (thrown) {
    throw new TuttiError("io", `could not write ${file}: ${thrownMessage(thrown)}`, { cause: thrown });
  }
  return { file, state, why: "", text };
}

async function trustWritten({ project, state }: InitSubject, [config, policy]: readonly WrittenFile[]): Promise<void> {
  if (config !== undefined && config.text !== null) {
    const files = readConfigFiles(project);
    if (files?.text === config.text) {
      await loadConfig(files);
      await openTrust(state).record(files);
    }
  }
  if (policy !== undefined && policy.text !== null) {
    const found = findPolicyFile(project);
    if (found?.text === policy.text) await trustPolicy(project, state, found.hash);
  }
}
