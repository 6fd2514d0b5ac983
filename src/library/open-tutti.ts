// Opens Tutti for a program: in this process over a state folder or in memory, or over HTTP with a daemon that runs elsewhere.

import type { z } from "zod";

import type { CrashPlan } from "../daemon/state/crash-plan.ts";
import type { ModelsConfig } from "../model/models-config.ts";
import type { Clock } from "../ports.ts";
import { TuttiError } from "../protocol/error.ts";
import type { McpServerEntry } from "../protocol/invocation/mcp-servers.ts";
import type { ApprovalRules } from "../protocol/invocation/approval-policy.ts";
import type { AgentModel, AnyAgent } from "./code-agent.ts";
import type { CodeWorkflow } from "./code-workflow.ts";
import type { LocalTutti, OnAsk, OpenTutti } from "./opened-tutti.ts";

/** What a program brings, wherever its runs are. */
interface ProgramOptions {
  /** The agents of the program. Those that they call or hand over to are known with them. */
  readonly agents?: readonly AnyAgent[] | undefined;
  readonly workflows?: readonly CodeWorkflow[] | undefined;
  /** The model of agents that name none. */
  readonly model?: AgentModel | undefined;
  /** Providers, aliases and prices, as in the `models` of a config. Over HTTP they are those of the model objects alone. */
  readonly models?: Partial<ModelsConfig> | undefined;
  /** Which effects of the program's tools a person is asked about. Without rules its tools run at once. */
  readonly approvals?: ApprovalRules | undefined;
}

export interface OpenLocalOptions extends ProgramOptions {
  /** The folder that keeps everything. What it holds unfinished goes on at once. */
  readonly state?: string | undefined;
  /** Nothing is written to disk, and everything is gone when it is closed. */
  readonly memory?: true | undefined;
  /**
   * MCP servers, as in `.mcp.json`; only with `state`. Agents have a tool of one by its name, `mcp__SERVER__TOOL`. Its calls follow
   * the rules for their effects, so a person may be asked.
   */
  readonly mcpServers?: Readonly<Record<string, z.input<typeof McpServerEntry>>> | undefined;
  /** Called with each question of a run that has no function of its own, also of runs that go on after a restart. */
  readonly onAsk?: OnAsk | undefined;
  /** Tasks that run at the same time; 256 when absent. */
  readonly concurrency?: number | undefined;
  /** What `tutti/testing` gives. */
  readonly testing?: TestingOptions | undefined;
}

export interface TestingOptions {
  readonly clock?: Clock | undefined;
  readonly crash?: CrashPlan | undefined;
}

export interface OpenRemoteOptions extends ProgramOptions {
  /** The address of a daemon, such as `http://127.0.0.1:7878`. */
  readonly url: string;
  /** An API key, `tk_…`. */
  readonly key: string;
  /** Called with each question of the runs that this program starts or finds, if they have no function of their own; never with those of others. */
  readonly onAsk?: OnAsk | undefined;
  /** Replaces the global `fetch`. */
  readonly fetch?: typeof fetch | undefined;
}

/** Everything else is loaded now, so that importing `tutti` costs little. */
export function openTutti(options: OpenRemoteOptions): Promise<OpenTutti>;
export function openTutti(options: OpenLocalOptions): Promise<LocalTutti>;
export async function openTutti(options: OpenLocalOptions | OpenRemoteOptions): Promise<OpenTutti> {
  const { codeTutti } = await import("./code-tutti.ts");
  if ("url" in options) {
    const { remoteSource } = await import("./remote-source.ts");
    return codeTutti(remoteSource(options), options);
  }
  if (process.getBuiltinModule?.("node:sqlite") === undefined) {
    throw new TuttiError(
      "refused",
      `Tutti in process needs Node 24, and this is ${process.version}; update Node, or open a daemon with \`url\` and \`key\``,
    );
  }
  const { localSource } = await import("./local-source.ts");
  return codeTutti(await localSource(options), options);
}
