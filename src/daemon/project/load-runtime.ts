// Builds what one version of a project's config brings to its tasks: its models, its tools and the runners made of them.

import { agentEnvironment, type AgentEnvironment } from "../../agent/agent-environment.ts";
import { withAttendedModels } from "../../model/attended-model.ts";
import { models } from "../../model/model-registry.ts";
import { rehearsalModel } from "../../model/rehearsal/rehearsal-model.ts";
import type { Model } from "../../model-port.ts";
import type { ModelsConfig } from "../../model/models-config.ts";
import type { Clock, Runner, RunnerRegistry } from "../../ports.ts";
import type { TaskId } from "../../protocol/ids.ts";
import type { InvocationFile } from "../../protocol/invocation/invocation-file.ts";
import { sessionHomes } from "../../runner/acp/old-homes.ts";
import { acpRunner } from "../../runner/acp/runner.ts";
import type { Profiles } from "../../runner/acp/profile.ts";
import { mergeAcpSettings } from "../../runner/acp/settings.ts";
import { invocationRunner } from "../../runner/invocation/runner.ts";
import { localRunner } from "../../runner/local/runner.ts";
import type { StepTool } from "../../agent/tools/tool.ts";
import type { McpServers } from "../../protocol/invocation/mcp-servers.ts";
import { type Machine, openWorkspaces } from "../../workspace/index.ts";
import { confineGit } from "../../runner/shared/sandbox/confine-git.ts";
import { probeSandbox } from "../../runner/shared/sandbox/sandbox-status.ts";
import { approved } from "../../runner/shared/approve-runner.ts";
import type { FolderOf } from "../../runner/shared/moved-project.ts";
import type { RunPersonsProgram } from "../../runner/shared/lost-workspace.ts";
import type { LookingElsewhere } from "../../runner/shared/work-elsewhere.ts";
import { gated } from "../../runner/operator/gate.ts";
import { type ConversationClient, conversationControls } from "../state/conversation-verbs.ts";
import type { ProviderKeys } from "../secrets/provider-keys.ts";
import type { Attendance } from "../attendance/attendance.ts";
import { attendedRunner } from "../attendance/attended-workflow.ts";
import { openAgentFailures } from "./agent-failures.ts";
import { keptAllowedChecks } from "./allowed-checks.ts";
import type { ProjectCheck } from "./checks-config.ts";
import type { ConfigFiles } from "./config-files.ts";
import type { ConfigProcess } from "./config-process.ts";
import { loadConfig } from "./project-config.ts";
import { type AssignmentParts, buildAssignment } from "./build-assignment.ts";
import { buildEnvironment } from "./build-environment.ts";
import { buildManager } from "./build-manager.ts";
import { modelNames } from "./project-models.ts";
import { openTrustedSettings } from "./trusted-settings.ts";
import { setupCacheOf, type WorkspacesConfig, workspacesRoot } from "./workspaces-config.ts";
import { mergeModels, type UserConfig } from "./user-config.ts";

export interface ProjectRuntime {
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
  /** The same with MCP servers and their tools for agents; made once for each key. */
  readonly withServers: (key: string, servers: readonly string[], tools: () => readonly StepTool[]) => AgentRunners;
}

/** Those that depend on the tools that agents have. */
type AgentRunners = Pick<ProjectRuntime, "invocation" | "local" | "attended" | "registered">;

export interface LoadOptions {
  /** The processes of programs that attend runs. */
  readonly attendance: Attendance;
  /** The state folder. */
  readonly state: string;
  readonly clock: Clock;
  /** Called with the models of every config that is loaded, before anything of it is used. */
  readonly onModels: (models: ModelsConfig) => void;
  readonly onWarning?: (message: string) => void;
  /** The keys that the person keeps for providers. */
  readonly providerKeys: ProviderKeys;
  /** Whether a task is over, or gone from the records. */
  readonly isOver?: (task: TaskId) => Promise<boolean>;
  /** The machine that workspaces are made on; absent where there is only one. */
  readonly machine?: () => Machine | undefined;
  /** Runs git with the person's own settings, to find branches that were pushed from a machine that was lost. */
  readonly runPersonsProgram?: RunPersonsProgram | undefined;
  /** What tasks left on whichever machine; absent where there is only one. */
  readonly savedWork?: LookingElsewhere["savedWork"] | undefined;
  /** Where projects that people named are on this machine; absent where there is only one machine. */
  readonly folderOf?: FolderOf | undefined;
}

/** Sets of servers that one runtime keeps runners for. */
const mostExtended = 32;

export interface RuntimeSource {
  readonly files: ConfigFiles | undefined;
  readonly user: UserConfig;
  readonly project: string | undefined;
  /** What conversations act through. */
  readonly acting: Promise<ConversationClient>;
}

export async function loadRuntime(
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
  }: LoadOptions,
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
    project,
    checks: config.checks,
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
    withServers(key, servers, tools) {
      const known = extended.get(key);
      if (known !== undefined) return known;
      if (extended.size >= mostExtended) extended.clear();
      const made = runnersOf({ ...environment, servers, tools: [...(environment.tools ?? []), ...tools()] });
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
