// Opens the project that contains a folder: its agents, its models, and what commands do with them.

import { realpathSync } from "node:fs";
import { homedir } from "node:os";
import { join, resolve } from "node:path";

import type { Project } from "../../host/project.ts";
import type { ModelView } from "../../protocol/api/catalog.ts";
import { definitionFolders, loadDefinitions, type LoadedDefinitions } from "../../agent/definition/agent-folders.ts";
import { watchDefinitions } from "../../agent/definition/watch-folders.ts";
import { keySources } from "../secrets/provider-keys.ts";
import { readPolicyFile } from "../../protocol/routing/read-policy-file.ts";
import { checkPolicyModels } from "./check-policy-models.ts";
import { createAgentFile } from "./create-agent-file.ts";
import { withRunnerProblems } from "./definition-runners.ts";
import { initProject } from "./init-project.ts";
import { prepareRun } from "./prepare-run.ts";
import { effectiveConfig } from "./effective-config.ts";
import { projectFolder } from "./project-folder.ts";
import {
  defaultPolicyOf,
  findPolicyFile,
  isPolicyTrusted,
  policyFor,
  trustPolicy,
  writePolicyFile,
} from "./project-policy.ts";
import { requireGoalModel } from "./require-goal-model.ts";
import { listModels, modelNames, tryOneModel } from "./project-models.ts";
import { pricesAsOf } from "../../model/prices.ts";
import { type DoctorSubject, runDoctor } from "./run-doctor.ts";
import { openTrust } from "./trusted-configs.ts";
import { openTrustedSettings, settingsProject, viewAgentSettings } from "./trusted-settings.ts";
import { trustConfig, viewConfig } from "./trust-project.ts";
import { openAgreedServers } from "./agreed-servers.ts";
import { declineSetup, setupOffer } from "./setup-offer.ts";
import { logInServer, logOutServer, trustServers, viewServers } from "./server-views.ts";
import { withToolWarnings } from "./unknown-tools.ts";
import { loadUserConfig } from "./user-config.ts";

/** `from` is a folder in the project. */
export function openProject(from: string, { state, daemonAt }: Pick<DoctorSubject, "state" | "daemonAt">): Project {
  const home = homedir();
  const folder = projectFolder(resolve(from), home);
  const folders = definitionFolders({ project: folder, home });
  const checked = (loaded: LoadedDefinitions): LoadedDefinitions => withRunnerProblems(withToolWarnings(loaded));
  const agents = async (): Promise<LoadedDefinitions> => checked(await loadDefinitions(folders));
  const subject = { project: folder, state, agents };
  return {
    folder,
    agents,
    async watchAgents(onChange) {
      const watched = await watchDefinitions(folders, (loaded) => onChange(checked(loaded)));
      return { current: checked(watched.current()), close: () => watched.close() };
    },
    newAgent: (name, { user }) => createAgentFile(join(user ? home : folder, ".tutti", "agents"), name),
    prepareRun: async (request) => prepareRun({ project: folder, state }, await agents(), request),
    async models({ probe }) {
      const { models, problem } = await effectiveConfig(folder, state);
      return { models: await listModels(models, keySources(state), { probe }), prices_as_of: pricesAsOf, problem };
    },
    async requireGoalModel() {
      const { models, problem } = await effectiveConfig(folder, state);
      // A config that is not used yet may name a model.
      if (problem === undefined) requireGoalModel(modelNames(models, keySources(state)).fallback);
    },
    async tryModel(name, options) {
      const { models, problem } = await effectiveConfig(folder, state);
      if (problem !== undefined) options.onProblem(problem);
      return tryOneModel(models, keySources(state), { name, ...options });
    },
    async runners() {
      const { runners, problem } = await effectiveConfig(folder, state);
      return { runners, problem };
    },
    config: async () => viewConfig(folder, state),
    trust: (hash) => trustConfig(folder, state, hash),
    init: (options) => initProject({ project: folder, state, home }, options),
    setupOffer: (options) => setupOffer({ project: folder, state, home }, options),
    declineSetup: () => declineSetup({ project: folder, state }),
    async policyFile() {
      const found = findPolicyFile(folder);
      if (found === undefined) return undefined;
      const { file, hash, text } = found;
      return { file, hash, trusted: isPolicyTrusted(found, state), problems: readPolicyFile(text).problems };
    },
    trustPolicy: (hash) => trustPolicy(folder, state, hash),
    policy: () => policyFor(folder, state),
    defaultPolicy: () => defaultPolicyOf(folder, state),
    checkPolicy: async (given) =>
      checkPolicyModels(given ?? findPolicyFile(folder) ?? (await defaultPolicyOf(folder, state)), {
        project: folder,
        state,
      }),
    writePolicy: (text) => writePolicyFile({ project: folder, state, text }),
    agentSettings: async () =>
      viewAgentSettings(from, { state, profiles: (await effectiveConfig(folder, state)).profiles }),
    async trustAgentSettings({ project, files }) {
      const whole = files.flatMap(({ path, hash }) => (hash === null ? [] : [{ path, hash }]));
      await openTrustedSettings(state).record(project, whole);
    },
    servers: () => viewServers(subject),
    trustServers: (shown) => trustServers(subject, shown),
    logInServer: (name, options) => logInServer(subject, name, options),
    logOutServer: (name) => logOutServer(subject, name),
    async revokeTrust() {
      const ofSettings = await openTrustedSettings(state).revoke(await settingsProject(from));
      const ofServers = await openAgreedServers(state).revoke(folder);
      return (await openTrust(state).revoke(realpathSync(folder))) || ofSettings || ofServers;
    },
    doctor: () => runDoctor({ project: folder, state, agents, daemonAt }),
  };
}

/** The models that the user has in every folder. */
export async function userModels(state: string, { probe }: { readonly probe: boolean }): Promise<ModelView[]> {
  return listModels((await loadUserConfig(homedir())).models, keySources(state), { probe });
}
