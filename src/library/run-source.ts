// Where runs are started and read: the engine in this process, or a daemon over HTTP.

import type { Tutti } from "../client/client.ts";
import type { AgentResult } from "../protocol/invocation/invocation-result.ts";
import type { AnyAgent } from "./code-agent.ts";
import type { CodeWorkflow } from "./code-workflow.ts";
import type { ParkedTask, StartRunOptions } from "./opened-tutti.ts";
import type { AnyTarget } from "./run-target.ts";

export interface StartedRun {
  readonly task: string;
  readonly existed: boolean;
}

export interface StartSettings extends Pick<StartRunOptions, "key" | "budget" | "roots"> {
  /** The name or the id of the thread that it is said into. */
  readonly thread?: string | undefined;
}

export interface RunSource {
  /** Others have tasks there, too: this program answers questions of its own runs and of no others. */
  readonly isShared: boolean;
  readonly client: Pick<
    Tutti,
    | "follow"
    | "result"
    | "asks"
    | "ask"
    | "answer"
    | "cancel"
    | "sendMessage"
    | "tasks"
    | "task"
    | "tree"
    | "threads"
    | "thread"
    | "threadMessages"
    | "forkThread"
  >;
  startAgent(agent: AnyAgent, prompt: string, settings: StartSettings): Promise<StartedRun>;
  startFanOut(targets: readonly AnyTarget[], settings: StartSettings): Promise<StartedRun>;
  startWorkflow(workflow: CodeWorkflow, input: unknown, settings: StartSettings): Promise<StartedRun>;
  /** Says something to the agent or the workflow of the run. */
  send(task: string, text: string): Promise<unknown>;
  /** The result of the agent of the run. */
  agentResult(task: string, signal?: AbortSignal): Promise<AgentResult>;
  /** The results of all targets, in their order. */
  targetResults(task: string, signal?: AbortSignal): Promise<readonly AgentResult[]>;
  /** Does what the run needs of this process until it ends, such as the calls of its tools. */
  attend?(
    started: StartedRun,
    of: { readonly agents: readonly AnyAgent[]; readonly workflows: readonly CodeWorkflow[] },
    signal: AbortSignal,
  ): Promise<void>;
  parked(): readonly ParkedTask[];
  readonly crashed: Promise<void>;
  close(): Promise<void>;
}
