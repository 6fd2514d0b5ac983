// What a front can do with a project: its agents, its models, and whether all is there that it needs.

import type { ErrorCode } from "../protocol/error.ts";
import type { AgentDefinition } from "../protocol/invocation-file.ts";

export interface AgentView {
  readonly name: string;
  readonly file: string;
  readonly of: "project" | "user";
  readonly definition: AgentDefinition;
}

/** One line of a file that is wrong, or that does not do what its author may think. */
export interface AgentProblem {
  readonly file: string;
  readonly line: number;
  readonly level: "error" | "warning";
  readonly message: string;
}

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

export interface ModelView {
  readonly model: string;
  /** Short names for it. */
  readonly aliases: readonly string[];
  /** What agents get that name none. */
  readonly default: boolean;
  readonly provider: string;
  /** The variable that holds the key; null when none is needed. */
  readonly key_env: string | null;
  readonly key: boolean;
  /** Undefined when nobody looked. */
  readonly reachable?: { readonly ok: boolean; readonly said: string };
  readonly format: "native" | "fenced";
  /** Per million tokens; null is unknown. */
  readonly price: { readonly input_micro_usd: number; readonly output_micro_usd: number } | null;
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
