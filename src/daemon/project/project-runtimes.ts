// Loads what a project brings to its tasks, its models, its tools and the runners built from them, once per version of its config.

import { statSync } from "node:fs";
import { homedir } from "node:os";

import { agentEnvironment, type AgentEnvironment } from "../../agent/agent-environment.ts";
import type { NodeRunners } from "../../cluster/node-labels.ts";
import { withAttendedModels } from "../../model/attended-model.ts";
import { models } from "../../model/model-registry.ts";
import { rehearsalModel } from "../../model/rehearsal/rehearsal-model.ts";
import type { Model } from "../../model-port.ts";
import type { ModelsConfig } from "../../model/models-config.ts";
import type { Clock, Durable, Runner, RunnerRegistry, TreeRunners } from "../../ports.ts";
import type { TaskId } from "../../protocol/ids.ts";
import type { InvocationFile } from "../../protocol/invocation/invocation-file.ts";
import { attendedKind, knownRunnerKinds, programKind } from "../../protocol/invocation/runner-kinds.ts";
import { sessionHomes } from "../../runner/acp/old-homes.ts";
import { acpRunner } from "../../runner/acp/runner.ts";
import { installedAgents, isInstalled } from "../../runner/acp/installed-agents.ts";
import { builtinProfiles, type Profiles } from "../../runner/acp/profile.ts";
import { AcpSettings, mergeAcpSettings } from "../../runner/acp/settings.ts";
import { invocationRunner } from "../../runner/invocation/runner.ts";
import { readInvocationConfig } from "../../runner/invocation/config.ts";
import { localRunner } from "../../runner/local/runner.ts";
import { treeFile } from "../../agent/delegation/task-input.ts";
import type { StepTool } from "../../agent/tools/tool.ts";
import { openServerPool, type ServerPool } from "../../mcp/server-pool.ts";
import { toolsHash } from "../../mcp/server-identity.ts";
import type { AgentDefinition } from "../../protocol/invocation/invocation-file.ts";
import type { McpServers } from "../../protocol/invocation/mcp-servers.ts";
import { type Machine, openWorkspaces } from "../../workspace/index.ts";
import { confineGit } from "../../runner/shared/sandbox/confine-git.ts";
import { probeSandbox } from "../../runner/shared/sandbox/sandbox-status.ts";
import { approved } from "../../runner/shared/approve-runner.ts";
import { type FolderOf, runnersHere, taskHere, valueHere } from "../../runner/shared/moved-project.ts";
import type { RunPersonsProgram } from "../../runner/shared/lost-workspace.ts";
import type { LookingElsewhere } from "../../runner/shared/work-elsewhere.ts";
import type { ProcessNote } from "../../runner/shared/process/end-processes.ts";
import { gated } from "../../runner/operator/gate.ts";
import { type ConversationClient, conversationControls } from "../state/conversation-verbs.ts";
import type { ProviderKeys } from "../secrets/provider-keys.ts";
import type { Attendance } from "../attendance/attendance.ts";
import { attendedRunner } from "../attendance/attended-workflow.ts";
import { openAgentFailures } from "./agent-failures.ts";
import { keptAllowedChecks } from "./allowed-checks.ts";
import type { ProjectCheck } from "./checks-config.ts";
import { askForConfig } from "./ask-for-config.ts";
import { askForTrust, askToMiss } from "./ask-for-trust.ts";
import { type ConfigFiles, readConfigFiles } from "./config-files.ts";
import type { ConfigProcess } from "./config-process.ts";
import { noFolder } from "./missing-folder.ts";
import { loadConfig } from "./project-config.ts";
import { type AssignmentParts, buildAssignment } from "./build-assignment.ts";
import { buildEnvironment } from "./build-environment.ts";
import { buildManager } from "./build-manager.ts";
import { modelNames } from "./project-models.ts";
import { policyFor, type ProjectPolicy } from "./project-policy.ts";
import { openAgreedServers } from "./agreed-servers.ts";
import { declaredServers } from "./declared-servers.ts";
import { agreedServers, namedServers } from "./project-servers.ts";
import { openTrust } from "./trusted-configs.ts";
import { openTrustedSettings } from "./trusted-settings.ts";
import { setupCacheOf, type WorkspacesConfig, workspacesRoot } from "./workspaces-config.ts";
import { cachedUserConfig, mergeModels, type UserConfig } from "./user-config.ts";

interface ProjectRuntime {
  readonly environment: Partial<AgentEnvironment>;
  readonly local: Runner;
  readonly invocation: Runner;
  /** Workflows in processes that attend the run. */
  readonly attended: Runner;
  readonly acp: Runner;
  readonly conversation: Runner;
  /** The coding agents that it knows. */
  readonly agents: Profiles;
  /** The settings of workspaces that hold there. */
  readonly workspaces: WorkspacesConfig;
  /** Delegated tasks of goals, done by these runners. */
  readonly assignment: (inner: RunnerRegistry) => Runner;
  /** Goals: the root of their trees. */
  readonly manager: Runner;
  /** The checks that the config names; they run without anybody being asked. */
  readonly checks: readonly ProjectCheck[];
  /** Those that the config registers, by their kind. */
  readonly registered: RunnerRegistry;
  /** The process of a config that is code. */
  readonly process: ConfigProcess | undefined;
  /** The MCP servers of the config. */
  readonly mcpServers: McpServers;
  /** The same with more tools for agents; made once for each key. */
  readonly withTools: (key: string, tools: () => readonly StepTool[]) => AgentRunners;
}

/** Those that depend on the tools that agents have. */
type AgentRunners = Pick<ProjectRuntime, "invocation" | "local" | "attended" | "registered">;

export interface ProjectRuntimes {
  /**
   * `project` is the folder of a project, as it is recorded in a tree; undefined stands for none, so only the user's config
   * counts. The folder must exist (`not_found`): when it is gone, a project further up must not take its place. Undefined
   * when the project has a config that is not trusted, or has none although one was trusted. Throws `invalid_input` when the config cannot be used.
   */
  runtimeOf(project: string | undefined): Promise<ProjectRuntime | undefined>;
  /** The folder of a tree's project on this machine, from the config of its root. */
  projectHere(rootConfig: unknown): string | undefined;
  /** The runners of this machine that not every machine has: coding agents that are installed, and those of projects. */
  readonly ownRunners: Omit<NodeRunners, "isBuiltIn">;
  readonly userConfig: () => Promise<UserConfig>;
  /** The policy that a goal which starts now keeps. Throws when the project's own is not trusted or cannot be used. */
  readonly policyOf: (project: string) => Promise<ProjectPolicy>;
  /** The runners of a tree: those of its project, as its config is when the tree's first task runs here. */
  readonly treeRunners: TreeRunners;
  /** Says what conversations act through. Until then their verbs wait, since tasks may be taken up before there is a client. */
  actThrough(client: ConversationClient): void;
  /** Ends the processes of configs. */
  close(): void;
}

export interface ProjectRuntimesOptions {
  /** The processes of programs that attend runs. */
  readonly attendance: Attendance;
  /** The state folder. */
  readonly state: string;
  /** The folder of the user's own config; their home when absent. */
  readonly home?: string;
  readonly clock: Clock;
  /** Called with the models of every config that is loaded, before anything of it is used. */
  readonly onModels: (models: ModelsConfig) => void;
  readonly onWarning?: (message: string) => void;
  /** The keys that the person keeps for providers. */
  readonly providerKeys: ProviderKeys;
  /** Whether a task is over, or gone from the records. */
  readonly isOver?: (task: TaskId) => Promise<boolean>;
  /** Told of the process of an MCP server; awaited before the server begins. */
  readonly guard?: ((process: ProcessNote) => Promise<void>) | undefined;
  /** The machine that workspaces are made on; absent where there is only one. */
  readonly machine?: () => Machine | undefined;
  /** Runs git with the person's own settings, to find branches that were pushed from a machine that was lost. */
  readonly runPersonsProgram?: RunPersonsProgram | undefined;
  /** What tasks left on whichever machine; absent where there is only one. */
  readonly savedWork?: LookingElsewhere["savedWork"] | undefined;
  /** Where projects that people named are on this machine; absent where there is only one machine. */
  readonly folderOf?: FolderOf | undefined;
  /** Runners that are the same for all trees; asked for when a tree runs. */
  readonly otherRunners?: () => RunnerRegistry;
}

/** Sets of servers that one runtime keeps runners for. */
const mostExtended = 32;

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
  const userConfig = cachedUserConfig(options.home ?? homedir());
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
  const agreed = openAgreedServers(options.state);
  let pool: Promise<OpenPool> | undefined;
  let openedPool: ServerPool | undefined;
  const openPool = async (): Promise<OpenPool> => {
    const { toolchains } = (await userConfig()).acp;
    const sandbox = await probeSandbox();
    openedPool = openServerPool({ state: options.state, sandbox, toolchains, guard: options.guard });
    return { pool: openedPool, confined: sandbox.confined };
  };
  /** Adds the tools of the MCP servers that the tree may use. */
  const withServers = async (durable: Durable, runtime: ProjectRuntime): Promise<ProjectRuntime> => {
    const { project } = readInvocationConfig(durable.rootConfig);
    const user = await userConfig();
    const agents = agentsOf(durable.rootInput);
    const { servers } = declaredServers({
      user: user.mcpServers,
      variables: user.mcpVariables,
      config: runtime.mcpServers,
      project,
      agents,
    });
    if (servers.length === 0) return runtime;
    const open = await (pool ??= openPool());
    const found = await agreedServers(durable, servers, {
      agreed,
      pool: open.pool,
      onWarning: options.onWarning ?? (() => undefined),
      named: namedServers(agents),
      roots: durable.rights.roots,
      tree: durable.root,
    });
    if (found.length === 0) return runtime;
    const { serverTools } = await import("../../mcp/server-tools.ts");
    const key = JSON.stringify(found.map(({ name, hash, tools }) => [name, hash, toolsHash(tools)]));
    return { ...runtime, ...runtime.withTools(key, () => serverTools(found, open)) };
  };
  return {
    runtimeOf,
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
    policyOf: (project) => policyFor(project, options.state),
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
          invocation,
          local,
          acp: gated(approved("acp", acp)),
          assignment: assignment(inner),
          manager,
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

interface RuntimeSource {
  readonly files: ConfigFiles | undefined;
  readonly user: UserConfig;
  readonly project: string | undefined;
  /** What conversations act through. */
  readonly acting: Promise<ConversationClient>;
}

async function loadRuntime(
  { files, user, project, acting }: RuntimeSource,
  {
    state,
    clock,
    attendance,
    onModels,
    onWarning,
    providerKeys,
    isOver,
    machine,
    runPersonsProgram,
    folderOf,
    savedWork,
  }: ProjectRuntimesOptions,
): Promise<ProjectRuntime> {
  const loaded = await loadConfig(files);
  const { file, config, process: running } = loaded;
  if (config.notifications !== undefined) onWarning?.(ignoredNotifications(file));
  const merged = mergeModels(user.models, config.models);
  onModels(merged);
  const acp = mergeAcpSettings(user.acp, config.acp);
  const sources = { env: process.env, storedKey: providerKeys.get };
  const registry = models({ config: merged, ...sources, clock });
  const names = modelNames(merged, sources);
  const model = (found: InvocationFile): Model => {
    const here = registry.withRehearsal(rehearsalModel(found.script ?? {}));
    const { attended_models: attended } = found;
    return attended === undefined ? here : withAttendedModels(here, attended, attendance);
  };
  const environment = await buildEnvironment(loaded, {
    state,
    project,
    attendants: attendance,
    userRules: user.approvals,
    defaultModel: names.fallback,
  });
  const sandbox = await probeSandbox();
  const settings = { ...user.workspaces, ...config.workspaces };
  const workspaces = {
    store: openWorkspaces(state, { root: workspacesRoot(user.workspaces), machine: machine?.() }),
    commits: settings.commits ?? "tutti",
    branchPattern: settings.branch,
    hooks: settings.hooks,
    signing: settings.signing,
    copy: settings.copy ?? [],
    setup: settings.setup ?? [],
    setupCache: setupCacheOf(state, user.workspaces),
    confine: confineGit(sandbox, [state]),
    isOver,
    runPersonsProgram,
    savedWork,
  };
  const homes = sessionHomes(state);
  const delegation: AssignmentParts = {
    state,
    sandbox,
    toolchains: acp.toolchains,
    workspaces,
    names,
    model,
    registered: loaded.runners.map(({ kind }) => kind),
    allowed: keptAllowedChecks(state),
  };
  const runnersOf = (given: Partial<AgentEnvironment>): AgentRunners => ({
    invocation: invocationRunner(given),
    attended: attendedRunner({ attendance, clock, environment: agentEnvironment(given) }),
    local: localRunner({
      model,
      ...given,
      workspaces,
      setUp: { sandbox, toolchains: acp.toolchains, homes },
    }),
    registered: Object.fromEntries(loaded.runners.map(({ kind, run }) => [kind, gated(approved(kind, run(given)))])),
  });
  const extended = new Map<string, AgentRunners>();
  return {
    environment,
    agents: acp.profiles,
    workspaces: settings,
    checks: config.checks,
    mcpServers: config.mcpServers,
    ...runnersOf(environment),
    withTools(key, tools) {
      const known = extended.get(key);
      if (known !== undefined) return known;
      if (extended.size >= mostExtended) extended.clear();
      const made = runnersOf({ ...environment, tools: [...(environment.tools ?? []), ...tools()] });
      extended.set(key, made);
      return made;
    },
    acp: acpRunner({
      profiles: acp.profiles,
      toolchains: acp.toolchains,
      ...(acp.stall_ms === undefined ? {} : { times: { stallMs: acp.stall_ms } }),
      approvals: environment.approvals ?? [],
      sandbox,
      offLimits: [state],
      homes,
      trustedSettings: openTrustedSettings(state),
      breaker: openAgentFailures(state, user.sessions.max_failures),
      workspaces,
      mayBeElsewhere: folderOf !== undefined,
    }),
    assignment: buildAssignment(delegation),
    manager: buildManager(delegation),
    // Loaded with the first conversation: most processes have none.
    conversation: async (durable, given) => {
      const { conversationRunner } = await import("../../manager/conversation/conversation-runner.ts");
      const run = conversationRunner({
        model: (found) => registry.withRehearsal(rehearsalModel(found.script ?? {})),
        defaultModel: agentEnvironment(environment).defaultModel,
        ...conversationControls(acting),
      });
      return run(durable, given);
    },
    process: running,
  };
}

export function ignoredNotifications(file = "the config"): string {
  return `${file}: notifications is ignored, because a project may not say who is told of your work; put it into ~/.tutti/tutti.config.json`;
}
