// What a front can do with a project: its agents, its models, and whether all is there that it needs.

import type { AgentProblem, AgentView, ModelView } from "../protocol/api/catalog.ts";
import type { ErrorCode } from "../protocol/error.ts";

export interface ProjectAgents {
  readonly agents: readonly AgentView[];
  readonly problems: readonly AgentProblem[];
}

export interface RunRequest {
  readonly agent: string;
  readonly prompt: string;
  readonly folder: string;
  readonly model?: string | undefined;
  /** A rehearsal script, JSON. */
  readonly script?: string | undefined;
}

export interface PreparedRun {
  /** An invocation for `Working.invoke`, with every definition as it is now. */
  readonly text: string;
  /** What plays the agent. */
  readonly model: string;
  /** No model is called: a script is played. */
  readonly rehearsal: boolean;
}

export interface Finding {
  readonly what: string;
  readonly state: "ok" | "warn" | "fail";
  readonly said: string;
  /** What to do about it. */
  readonly todo?: string;
  /** Of a failure. */
  readonly code?: ErrorCode;
}

export interface Project {
  readonly folder: string;
  agents(): Promise<ProjectAgents>;
  /** Calls `onChange` when they are no longer what they were; a file that breaks keeps its last good definition. */
  watchAgents(onChange: (agents: ProjectAgents) => void): Promise<{ readonly current: ProjectAgents; close(): void }>;
  /** Writes a starter file and says where; never over one that is there. */
  newAgent(name: string, options: { readonly user: boolean }): Promise<string>;
  prepareRun(request: RunRequest): Promise<PreparedRun>;
  /** `probe`: the providers are asked whether they are there. */
  models(options: { readonly probe: boolean }): Promise<readonly ModelView[]>;
  doctor(options: { readonly state: string }): Promise<readonly Finding[]>;
}
