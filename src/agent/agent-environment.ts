// What a project provides for its agents: tools, runners, and which calls need approval.

import type { ApprovalSource } from "../core/approval.ts";
import { rehearsalModelName } from "../core/rehearsal-name.ts";
import type { AllowedCalls, StandingApproval } from "../protocol/invocation/standing-approval.ts";
import type { AvailableRunner } from "../protocol/invocation/runner-kinds.ts";
import type { Attendants } from "../ports.ts";
import type { OutputCheck } from "./loop/output-schema.ts";
import type { LookAround } from "./surroundings.ts";
import type { Tool } from "./tools/tool.ts";
import { ask } from "./tools/ask-person.ts";
import { echo } from "./tools/echo.ts";
import { edit } from "./tools/edit.ts";
import { read } from "./tools/read.ts";
import { readResult } from "./tools/read-result.ts";
import { list, search } from "./tools/search.ts";
import { sleep } from "./tools/sleep.ts";
import { supervisorTools } from "./tools/supervise.ts";
import { write, writeFile } from "./tools/write.ts";

/** The standing approvals of one project. */
export interface StandingApprovals {
  /** The one that covers the call. */
  find(call: AllowedCalls): StandingApproval | undefined;
}

export interface AgentEnvironment {
  readonly tools: readonly Tool[];
  /** The MCP servers that agents can name, those without tools here among them; undefined when it is not known which there are. */
  readonly servers?: readonly string[] | undefined;
  /** The runners other than `local`, in order of preference. */
  readonly runners: readonly AvailableRunner[];
  /** The runtimes an agent has in the local loop. */
  readonly runtimes: readonly string[];
  /** The kind of the runner that runs the loop of an agent here. */
  readonly ownRunner: string;
  /** Checks results beyond their JSON Schema, by the name of the agent; nothing more is checked when absent. */
  readonly outputChecks: ReadonlyMap<string, OutputCheck> | undefined;
  /** The model of agents that name none in an invocation that names none. */
  readonly defaultModel: string;
  /** The rules of the user and of the project about which calls run at once, need approval or are refused. */
  readonly approvals: readonly ApprovalSource[];
  /** What a person has allowed for good in this project; nobody has allowed anything when absent. */
  readonly standing: StandingApprovals | undefined;
  /** Folders that no tool may touch, such as the state folder. */
  readonly offLimits: readonly string[];
  /** Looks at the folder that an agent works in, so that the agent can be told; it is told nothing when absent. */
  readonly lookAround: LookAround | undefined;
  /** Those who make the calls of a program's own code; absent where a program has no process but this one. */
  readonly attendants: Attendants | undefined;
}

export const builtinTools: readonly Tool[] = [
  read,
  write,
  edit,
  list,
  search,
  readResult,
  echo,
  writeFile,
  sleep,
  ask,
  ...supervisorTools,
];

export function agentEnvironment(parts: Partial<AgentEnvironment> = {}): AgentEnvironment {
  return {
    tools: parts.tools ?? builtinTools,
    servers: parts.servers,
    runners: parts.runners ?? [],
    runtimes: parts.runtimes ?? ["local"],
    ownRunner: parts.ownRunner ?? "local",
    outputChecks: parts.outputChecks,
    defaultModel: parts.defaultModel ?? rehearsalModelName,
    approvals: parts.approvals ?? [],
    standing: parts.standing,
    offLimits: parts.offLimits ?? [],
    lookAround: parts.lookAround,
    attendants: parts.attendants,
  };
}
