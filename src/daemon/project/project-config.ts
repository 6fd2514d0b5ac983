// Loads and validates a config, `tutti.config.{ts,js,mjs,json}`, with errors that name the file and the field.

import { z } from "zod";

import { type AgentEnvironment, builtinTools } from "../../agent/agent-environment.ts";
import { reservedToolNames } from "../../agent/tools/loop-tools.ts";
import type { StepTool } from "../../agent/tools/tool.ts";
import { readUserTools } from "../../agent/tools/user-tools.ts";
import { ModelsConfig } from "../../model/models-config.ts";
import { ApprovalRules } from "../../protocol/invocation/approval-policy.ts";
import { TuttiError } from "../../protocol/error.ts";
import { issuesOf, describeIssues } from "../../protocol/lenient-read.ts";
import type { Runner } from "../../ports.ts";
import { AcpSettings } from "../../runner/acp/settings.ts";
import { readUserRunners } from "../../runner/registered/user-runners.ts";
import { type ConfigFiles, isData, readConfigJson } from "./config-files.ts";
import type { RunnerDescription } from "./config-messages.ts";
import { ConfigProcess } from "./config-process.ts";
import { configRunner } from "./config-runners.ts";
import { configTool } from "./config-tools.ts";
import { configWorkflow } from "./config-workflows.ts";
import { McpServers } from "../../protocol/invocation/mcp-servers.ts";
import { SessionsConfig } from "./sessions-config.ts";
import { LimitsConfig } from "./limits-config.ts";
import { ChecksConfig } from "./checks-config.ts";
import { roomSettings, WorkspacesConfig } from "./workspaces-config.ts";

const Config = z.strictObject({
  models: ModelsConfig.default(() => ModelsConfig.parse({})),
  approvals: ApprovalRules.optional(),
  /** Coding agents that run tasks as sessions. */
  acp: AcpSettings.default(() => AcpSettings.parse({})),
  /** Used, and validated, only in the user's own config. */
  notifications: z.unknown().optional(),
  workspaces: WorkspacesConfig.default(() => ({})),
  /** MCP servers, in the form of a `.mcp.json`. */
  mcpServers: McpServers.default(() => ({})),
  /** Only in the user's own config. */
  mcp: z.strictObject({ variables: z.array(z.string()).default(() => []) }).optional(),
  /** Only in the user's own config. */
  sessions: SessionsConfig.optional(),
  /** Only in the user's own config. */
  limits: LimitsConfig.optional(),
  /** Commands that prove the work of a task. Only a project has some. */
  checks: ChecksConfig.default(() => []),
  /** Validated where they are made into tools (`readUserTools`). */
  tools: z.array(z.unknown()).default(() => []),
  /** Validated where they are made into runners (`readUserRunners`). */
  runners: z.array(z.unknown()).default(() => []),
});
export type Config = z.infer<typeof Config>;

/** A runner that the config registers. */
interface ConfigRunner extends Pick<RunnerDescription, "kind" | "runtime" | "description"> {
  /** Made with what the project provides for agents, which a workflow may call. */
  readonly run: (environment: Partial<AgentEnvironment>) => Runner;
}

export interface LoadedConfig {
  /** Undefined when there is no config. */
  readonly file: string | undefined;
  readonly config: Config;
  readonly tools: readonly StepTool[];
  readonly runners: readonly ConfigRunner[];
  /** The process its tools run in; undefined when it is no code. */
  readonly process: ConfigProcess | undefined;
}

const takenNames = [...reservedToolNames, "run", ...builtinTools.map((tool) => tool.name)];

/** Whose config it is: only the user's own may say how much of the disk workspaces take, how long sessions may rest, and what a day may cost. */
type ConfigOwner = "user" | "project";

/** The caller has made sure that the files may be used: a config that is code is executed, in a process of its own. */
export async function loadConfig(
  files: ConfigFiles | undefined,
  owner: ConfigOwner = "project",
): Promise<LoadedConfig> {
  if (files === undefined)
    return { file: undefined, config: Config.parse({}), tools: [], runners: [], process: undefined };
  if (isData(files)) return loadJson(files, owner);
  const process = new ConfigProcess(files, { taken: takenNames });
  try {
    const { config, tools, runners, issues } = await process.load();
    const parsed = parseConfig(files.file, config, owner);
    refuseIssues(issues);
    return {
      file: files.file,
      config: parsed,
      tools: tools.map((tool) => configTool(tool, process)),
      runners: runners.map(({ kind, runtime, description, call }) => ({
        kind,
        runtime,
        description,
        run: (environment) =>
          call === undefined ? configWorkflow(kind, process, environment) : configRunner(call, process),
      })),
      process,
    };
  } catch (thrown) {
    process.close();
    throw thrown;
  }
}

function loadJson(files: ConfigFiles, owner: ConfigOwner): LoadedConfig {
  const { file } = files;
  const json = readConfigJson(files);
  if (!json.ok) throw new TuttiError("invalid_input", `${file} cannot be used: it ${json.problem}`);
  const config = parseConfig(file, json.value, owner);
  const read = readUserTools(config.tools, { file, taken: takenNames });
  if (!read.ok) refuseIssues(read.issues);
  const runners = readUserRunners(config.runners, { file });
  if (!runners.ok) refuseIssues(runners.issues);
  return { file, config, tools: [], runners: [], process: undefined };
}

/** Throws `invalid_input` with the file and the field. */
export function parseConfig(file: string, value: unknown, owner: ConfigOwner): Config {
  const parsed = Config.safeParse(value);
  const [setting] = owner === "project" && parsed.success ? settingsOfUser(parsed.data) : [];
  if (setting !== undefined) {
    throw new TuttiError(
      "invalid_input",
      `${file}: ${setting} is not for a project to set; put it into ~/.tutti/tutti.config.json`,
    );
  }
  if (parsed.success) return parsed.data;
  const issues = issuesOf(parsed.error);
  throw new TuttiError("invalid_input", `${file}: ${describeIssues(issues)}`, { details: { file, issues } });
}

/** The names of settings that only the user's own config may have. */
function settingsOfUser({ workspaces, sessions, limits, mcp }: Config): string[] {
  return [
    ...roomSettings(workspaces).map((name) => `workspaces.${name}`),
    ...(sessions === undefined ? [] : ["sessions"]),
    ...(limits === undefined ? [] : ["limits"]),
    ...(mcp === undefined ? [] : ["mcp"]),
  ];
}

function refuseIssues(issues: readonly string[]): void {
  if (issues.length > 0) throw new TuttiError("invalid_input", issues.join("; "), { details: { issues: [...issues] } });
}
