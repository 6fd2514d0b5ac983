// The interface of a project: its agents, its models, and a check that everything it needs is there.

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
  /** The text for `Tutti.invoke`, with every agent's definition as it is now. */
  readonly text: string;
  readonly model: string;
  /** The replies come from a script and no model is called. */
  readonly rehearsal: boolean;
}

export interface Finding {
  readonly what: string;
  readonly state: "ok" | "warn" | "fail";
  readonly said: string;
  /** What to do about it. */
  readonly todo?: string;
  /** Of a finding that fails. */
  readonly code?: ErrorCode;
}

export interface Project {
  readonly folder: string;
  agents(): Promise<ProjectAgents>;
  /** Calls `onChange` whenever an agent changes. An agent whose file becomes invalid keeps its last valid definition. */
  watchAgents(onChange: (agents: ProjectAgents) => void): Promise<{ readonly current: ProjectAgents; close(): void }>;
  /** Writes a definition to start from and returns its path. Never overwrites a file. */
  newAgent(name: string, options: { readonly user: boolean }): Promise<string>;
  prepareRun(request: RunRequest): Promise<PreparedRun>;
  /** `probe`: asks the providers whether they can be reached. */
  models(options: { readonly probe: boolean }): Promise<readonly ModelView[]>;
  doctor(options: { readonly state: string }): Promise<readonly Finding[]>;
}
