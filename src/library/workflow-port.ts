// What the operations of a workflow are carried out by: the engine in this process, or Tutti's process when a config has the workflow.

import type { AskSpec, Durable, Waited } from "../ports.ts";
import type { AgentResult } from "../protocol/invocation/invocation-result.ts";
import type { Answer } from "../protocol/task/ask.ts";
import type { WorkflowStep, WorkflowStepOptions } from "./code-workflow.ts";
import type { AnyAgent } from "./code-agent.ts";

export interface WorkflowTarget {
  readonly agent: AnyAgent | string;
  readonly prompt: string;
}

/** Its keys begin with `workflowPrefix`, and are each used once. */
export interface WorkflowPort extends Pick<Durable, "task" | "attempt" | "agent" | "signal"> {
  /** The outcome of the body can be written as JSON. */
  step(key: string, body: (step: WorkflowStep) => Promise<unknown>, options: WorkflowStepOptions): Promise<unknown>;
  sleep(key: string, ms: number): Promise<void>;
  now(key: string): Promise<number>;
  id(key: string): Promise<string>;
  /** Throws before any of them is started when one cannot be. */
  runAgents(key: string, targets: readonly WorkflowTarget[]): Promise<readonly AgentResult[]>;
  startWorkflow(key: string, name: string, input: unknown): Promise<AgentResult>;
  wait(key: string, options: { readonly ask: AskSpec; readonly within?: number }): Promise<Waited<Answer>>;
  /** The text of the message. */
  receive(key: string): Promise<string>;
  /** Throws where the engine is not in this process. */
  readonly durable: Durable;
}
