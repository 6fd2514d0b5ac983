// How a project writes a runner of its own: plain data and a function, under a kind that no other runner has.

import type { CompleteMessage } from "../../protocol/task/message.ts";
import type { StandardSchema, UserToolContext } from "../../agent/tools/define-tool.ts";

/** What a registered runner is given to do. */
export interface RunnerTask<Config = unknown> {
  /** The config of the executor or of the agent's definition, as the runner's schema read it. */
  readonly config: Config;
  readonly agent: string;
  readonly instructions: string;
  /** The text of the task's first message. */
  readonly message: string;
  /**
   * The conversation that the task inherits, and after it its first message, when that has other parts than text. Absent when
   * the text says everything.
   */
  readonly messages?: readonly CompleteMessage[] | undefined;
  readonly task: string;
  /** Counted from 1. */
  readonly attempt: number;
}

export interface RunnerDefinition<Config = unknown> {
  /** The name by which executors, definitions and policies name the runner. */
  readonly kind: string;
  readonly description: string;
  /** What `runtimes` of an agent calls it; the kind when absent. */
  readonly runtime?: string;
  /** Checks the config of a task; any config is accepted when absent. */
  readonly config?: StandardSchema<Config>;
  /** Whether a task may be run again after it was interrupted; false when absent. */
  readonly repeatable?: boolean;
  /** Half an hour when absent, at most a day. */
  readonly timeout_ms?: number;
  /** The task's result is what this returns, as text or as JSON; the task fails with the message of what it throws. */
  readonly run: (task: RunnerTask<Config>, context: UserToolContext) => unknown;
}

/** Returns the definition unchanged; only the types matter: `run` gets the type of the config. */
export function defineRunner<Config>(definition: RunnerDefinition<Config>): RunnerDefinition<Config> {
  return definition;
}
