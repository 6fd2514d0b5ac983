// Finds the runners of a tree: those that its project's config brings, when a person has agreed to it, loaded once per version.

import { statSync } from "node:fs";
import { homedir } from "node:os";

import type { NodeRunners } from "../../cluster/node-labels.ts";
import type { Durable, RunnerRegistry, TreeRunners } from "../../ports.ts";
import { attendedKind, knownRunnerKinds, programKind } from "../../protocol/invocation/runner-kinds.ts";
import { installedAgents, isInstalled } from "../../runner/acp/installed-agents.ts";
import { builtinProfiles } from "../../runner/acp/profile.ts";
import { AcpSettings, mergeAcpSettings } from "../../runner/acp/settings.ts";
import { readInvocationConfig } from "../../runner/invocation/config.ts";
import { treeFile } from "../../agent/delegation/task-input.ts";
import { openServerPool, type ServerPool } from "../../mcp/server-pool.ts";
import { toolsHash } from "../../mcp/server-identity.ts";
import type { AgentDefinition } from "../../protocol/invocation/invocation-file.ts";
import { probeSandbox } from "../../runner/shared/sandbox/sandbox-status.ts";
import { agreedByPerson } from "../../runner/shared/approve-program.ts";
import { approved } from "../../runner/shared/approve-runner.ts";
import { runnersHere, taskHere, valueHere } from "../../runner/shared/moved-project.ts";
import type { ProcessNote } from "../../runner/shared/process/end-processes.ts";
import { gated } from "../../runner/operator/gate.ts";
import type { ConversationClient } from "../state/conversation-verbs.ts";
import { askForConfig } from "./ask-for-config.ts";
import { askForTrust, askToMiss } from "./ask-for-trust.ts";
import { type ConfigFiles, readConfigFiles } from "./config-files.ts";
import type { ConfigProcess } from "./config-process.ts";
import { noFolder } from "./missing-folder.ts";
import { policyFor, type ProjectPolicy } from "./project-policy.ts";
import { openAgreedServers } from "./agreed-servers.ts";
import { type Declared, declaredServers } from "./declared-servers.ts";
import { agreedServers, namedServers } from "./project-servers.ts";
import { openTrust } from "./trusted-configs.ts";
import { cachedUserConfig, type UserConfig } from "./user-config.ts";
import { type LoadOptions, loadRuntime, type ProjectRuntime } from "./load-runtime.ts";

export interface ProjectRuntimes {
  /**
   * `project` is the folder of a project, as it is recorded in a tree; undefined stands for none, so only the user's config
   * counts. The folder must exist (`not_found`): when it is gone, a project further up must not take its place. Undefined
   * when the project has a config that is not trusted, or has none although one was trusted. Throws `invalid_input` when the config cannot be used.
   */
  runtimeOf(project: string | undefined): Promise<ProjectRuntime | undefined>;
  /** The MCP servers that agents of this project can name, without asking anybody or starting them. */
  serverNames(
    project: string | undefined,
    runtime: Pick<ProjectRuntime, "mcpServers">,
    agents: Readonly<Record<string, AgentDefinition>>,
  ): Promise<readonly string[]>;
  /** The folder of a tree's project on this machine, from the config of its root. */
  projectHere(rootConfig: unknown): string | undefined;
  /** The runners of this machine that not every machine has: coding agents that are installed, and those of projects. */
  readonly ownRunners: Omit<NodeRunners, "isBuiltIn">;
  readonly userConfig: () => Promise<UserConfig>;
  /** The policy that a goal which starts now keeps. Throws when the project's own is not trusted or cannot be used. */
  readonly policyOf: (project: string, decider: string | undefined) => Promise<ProjectPolicy>;
  /** The runners of a tree: those of its project, as its config is when the tree's first task runs here. */
  readonly treeRunners: TreeRunners;
  /** Says what conversations act through. Until then their verbs wait, since tasks may be taken up before there is a client. */
  actThrough(client: ConversationClient): void;
  /** Ends the processes of configs. */
  close(): void;
}

export interface ProjectRuntimesOptions extends LoadOptions {
  /** The folder of the user's own config; their home when absent. */
  readonly home?: string;
  /** Told of the process of an MCP server; awaited before the server begins. */
  readonly guard?: ((process: ProcessNote) => Promise<void>) | undefined;
  /** Told of the user's own config whenever somebody has read it. */
  readonly onUserConfig?: (user: UserConfig) => void;
  /** Runners that are the same for all trees; asked for when a tree runs. */
  readonly otherRunners?: () => RunnerRegistry;
}

/** A repository can have any number of unusable servers. */
const mostWarned = 1_000;

interface OpenPool {
  readonly pool: ServerPool;
  /** Whether programs are confined on this machine. */
  readonly confined: boolean;
}

interface Cached {
  readonly version: string;
  readonly runtime: Promise<ProjectRuntime>;
}

export function openProjectRuntimes(options: ProjectRuntimesOptions): ProjectRuntimes {
  const cache = new Map<string, Cached>();
  const processes = new Set<ConfigProcess>();
  const trust = openTrust(options.state);
  const acting = Promise.withResolvers<ConversationClient>();
  const readConfig = cachedUserConfig(options.home ?? homedir());
  const userConfig = async (): Promise<UserConfig> => {
    const user = await readConfig();
    options.onUserConfig?.(user);
    return user;
  };
  const load = async (files: ConfigFiles | undefined, folder: string): Promise<ProjectRuntime> => {
    const user = await userConfig();
    // A login or a logout can change the default model.
    const version = `${files?.hash ?? ""} ${user.version} ${options.providerKeys.list().join()}`;
    const cached = cache.get(folder);
    if (cached?.version === version) return cached.runtime;
    const source = { files, user, project: folder === "" ? undefined : folder, acting: acting.promise };
    const runtime = loadRuntime(source, options);
    cache.set(folder, { version, runtime });
    void cached?.runtime.then(({ process }) => process?.retire()).catch(() => undefined);
    runtime.then(
      ({ process }) => process !== undefined && processes.add(process),
      // A failure is not cached: a config may fail for a moment only.
      () => cache.get(folder)?.runtime === runtime && cache.delete(folder),
    );
    return runtime;
  };
  const runtimeOf = async (project: string | undefined): Promise<ProjectRuntime | undefined> => {
    const files = filesOf(project);
    return isAgreed(files, project) ? load(files, project ?? "") : undefined;
  };
  const isAgreed = (files: ConfigFiles | undefined, project: string | undefined): boolean => {
    if (files !== undefined) return trust.isTrusted(files);
    return project === undefined || !trust.misses(project);
  };
  const { folderOf = () => undefined } = options;
  const resolve = async (durable: Durable): Promise<ProjectRuntime> => {
    const { project } = readInvocationConfig(durable.rootConfig);
    for (;;) {
      const found = await askForConfig(durable, async () => {
        const runtime = await runtimeOf(project);
        return runtime === undefined ? { files: filesOf(project) } : { runtime };
      });
      if ("runtime" in found) return found.runtime;
      if (found.files !== undefined) await askForTrust(durable, found.files, trust);
      else if (project !== undefined) await askToMiss(durable, project, trust);
    }
  };
  /** All servers that a tree may name, whether or not somebody has agreed to them. */
  const declaredFor = async (
    project: string | undefined,
    runtime: Pick<ProjectRuntime, "mcpServers">,
    agents: Readonly<Record<string, AgentDefinition>>,
  ): Promise<Declared> => {
    const user = await userConfig();
    const { mcpServers, mcpVariables: variables } = user;
    return declaredServers({ user: mcpServers, variables, config: runtime.mcpServers, project, agents });
  };
  const agreed = openAgreedServers(options.state);
  let pool: Promise<OpenPool> | undefined;
  let openedPool: ServerPool | undefined;
  const openPool = async (): Promise<OpenPool> => {
    const { toolchains } = (await userConfig()).acp;
    const sandbox = await probeSandbox();
    openedPool = openServerPool({ state: options.state, sandbox, toolchains, guard: options.guard });
    return { pool: openedPool, confined: sandbox.confined };
  };
  const warned = new Set<string>();
  const warnOnce = (message: string): void => {
    if (warned.has(message) || warned.size >= mostWarned) return;
    warned.add(message);
    options.onWarning?.(message);
  };
  /** Adds the tools of the MCP servers that the tree may use. */
  const withServers = async (durable: Durable, runtime: ProjectRuntime): Promise<ProjectRuntime> => {
    const { project } = readInvocationConfig(durable.rootConfig);
    const agents = agentsOf(durable.rootInput);
    const { servers, problems } = await declaredFor(project, runtime, agents);
    for (const problem of problems) warnOnce(problem);
    const names = servers.map(({ name }) => name);
    const without = (): ProjectRuntime => ({
      ...runtime,
      ...runtime.withServers(JSON.stringify([names]), names, () => []),
    });
    if (servers.length === 0) return without();
    const open = await (pool ??= openPool());
    const found = await agreedServers(durable, servers, {
      agreed,
      ...open,
      onWarning: options.onWarning ?? (() => undefined),
      named: namedServers(agents),
      roots: durable.rights.roots,
      tree: durable.root,
    });
    if (found.length === 0) return without();
    const { serverTools } = await import("../../mcp/server-tools.ts");
    const key = JSON.stringify([names, found.map(({ name, hash, tools }) => [name, hash, toolsHash(tools)])]);
    return { ...runtime, ...runtime.withServers(key, names, () => serverTools(found, open)) };
  };
  return {
    runtimeOf,
    async serverNames(project, runtime, agents) {
      const { servers, problems } = await declaredFor(project, runtime, agents);
      for (const problem of problems) warnOnce(problem);
      return servers.map(({ name }) => name);
    },
    ownRunners: {
      async all() {
        const { profiles } = mergeAcpSettings((await userConfig()).acp, AcpSettings.parse({}));
        const installed = await installedAgents(profiles);
        return installed.length === 0 ? [] : ["acp", ...installed.map((name) => `acp:${name}`)];
      },
      async has(runner, folder) {
        const runtime = await runtimeOf(folder).catch(() => undefined);
        if (runtime === undefined) return false;
        const name = runner.startsWith("acp:") ? runner.slice("acp:".length) : undefined;
        if (name === undefined) return Object.hasOwn(runtime.registered, runner);
        const profile = Object.hasOwn(runtime.agents, name) ? runtime.agents[name] : undefined;
        return profile !== undefined && isInstalled(name, profile);
      },
      isCommon: (runner) =>
        [...knownRunnerKinds, attendedKind].includes(runner) ||
        Object.keys(builtinProfiles).some((name) => runner === `acp:${name}`),
    },
    projectHere: (rootConfig) => readInvocationConfig(valueHere(rootConfig, rootConfig, folderOf)).project,
    userConfig,
    policyOf: (project, decider) => policyFor(project, options.state, decider),
    treeRunners: {
      kinds: ["invocation", "local", "acp", "assignment", "manager", "conversation", attendedKind],
      mayHave: (kind) => kind !== programKind && kind !== attendedKind && !knownRunnerKinds.includes(kind),
      async resolve(given) {
        const durable = taskHere(given, folderOf);
        const { invocation, acp, assignment, manager, conversation, attended, registered, ...runtime } =
          await withServers(durable, await resolve(durable));
        const local = gated(runtime.local);
        // An assignment asks itself about the coding agent of a definition, because it adds a workspace to its config.
        const inner = { ...options.otherRunners?.(), ...registered, local, acp: gated(acp) };
        const runners = {
          ...registered,
          invocation: agreedByPerson(invocation),
          local,
          acp: gated(approved("acp", acp)),
          assignment: assignment(inner),
          manager: agreedByPerson(manager),
          conversation,
          [attendedKind]: gated(attended),
        };
        return options.folderOf === undefined ? runners : runnersHere(runners, folderOf);
      },
      ended(root) {
        options.attendance.ended(root);
        openedPool?.release(root);
      },
    },
    actThrough: acting.resolve,
    close() {
      for (const process of processes) process.close();
      openedPool?.close();
    },
  };
}

/** None in a tree that begins with something else than agents, such as a conversation. */
function agentsOf(rootInput: unknown): Readonly<Record<string, AgentDefinition>> {
  try {
    return treeFile(rootInput).agents;
  } catch {
    return {};
  }
}

function filesOf(project: string | undefined): ConfigFiles | undefined {
  if (project === undefined) return undefined;
  if (statSync(project, { throwIfNoEntry: false })?.isDirectory() !== true) {
    throw noFolder(project);
  }
  return readConfigFiles(project);
}
