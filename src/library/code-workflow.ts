// A durable function of the program: every operation has a key, is recorded once, and is not done again after a restart.

import type { StandardSchema } from "../agent/tools/define-tool.ts";
import type { Durable } from "../ports.ts";
import type { AgentTool, CodeAgent } from "./code-agent.ts";
import type { Recorded } from "./recorded.ts";
import type { AnyTarget, NamedTarget, OutcomesOf } from "./run-target.ts";

export interface WorkflowStepOptions {
  /** Whether it may run again when it was interrupted before its outcome was recorded. When absent it may not, and throws `outcome_unknown` then. */
  readonly repeatable?: boolean | undefined;
  readonly timeoutMs?: number | undefined;
  /** What it is about to do. The same key with another input is an error, which shows that the function is not deterministic. */
  readonly input?: unknown;
}

export interface WorkflowStep {
  readonly signal: AbortSignal;
  /** An idempotency key: the same for every try of this step, and different for any other. */
  readonly key: string;
  /** Shows a text while the step runs; it is not recorded. */
  progress(text: string): void;
  now(): number;
}

export interface WorkflowAsk {
  readonly question: string;
  readonly choices?: readonly string[] | undefined;
  readonly details?: unknown;
  /** 24 hours when absent. */
  readonly withinMs?: number | undefined;
}

export interface NamedRunOptions<Output> {
  readonly output?: StandardSchema<Output> | undefined;
}

/**
 * What a workflow is given. Each operation has a key that is unique in the workflow: what was recorded under it is returned
 * and not done again. Between two operations the code must do the same every time: the clock, random numbers and everything
 * outside of the process belong into a step.
 */
export interface WorkflowContext {
  readonly task: string;
  readonly attempt: number;
  /** Aborts when the workflow is canceled. */
  readonly signal: AbortSignal;
  /** Runs the body once and returns what JSON keeps of its outcome. Throws the same error live and after a restart. */
  step<T>(
    key: string,
    body: (step: WorkflowStep) => T | Promise<T>,
    options?: WorkflowStepOptions,
  ): Promise<Recorded<T>>;
  sleep(key: string, ms: number): Promise<void>;
  now(key: string): Promise<number>;
  id(key: string): Promise<string>;
  /** Runs an agent as a child and returns its result. Throws a `TuttiError` when it failed. */
  run<Output, Tools extends readonly AgentTool[]>(
    key: string,
    agent: CodeAgent<Output, Tools>,
    prompt: string,
  ): Promise<Output>;
  /**
   * The same for an agent that is named: one of `openTutti`, or in the config of a project one of the project's agents. Its
   * result is read with `output` if that is given.
   */
  run<Output = unknown>(key: string, agent: string, prompt: string, options?: NamedRunOptions<Output>): Promise<Output>;
  /** Runs a workflow as a child. */
  start<Input, Output>(key: string, workflow: CodeWorkflow<Input, Output>, input: Input): Promise<Recorded<Output>>;
  /** Runs several agents at the same time. Every outcome is returned, those of agents that failed too. */
  fanOut<const Targets extends readonly (AnyTarget | NamedTarget)[]>(
    key: string,
    targets: Targets,
  ): Promise<OutcomesOf<Targets>>;
  /** Asks people; undefined when nobody answered in time. */
  ask(key: string, ask: string | WorkflowAsk): Promise<string | undefined>;
  /** Asks for a yes or a no; false when nobody answered in time. */
  approve(key: string, ask: string | WorkflowAsk): Promise<boolean>;
  /** The next message that somebody sends to the workflow; waits for it. */
  receive(key: string): Promise<string>;
  /** The port of the engine, for everything else. Only a program has it: the engine is not in the process of a config. */
  readonly port: Durable;
}

export interface CodeWorkflow<Input = never, Output = unknown> {
  readonly kind: "workflow";
  readonly name: string;
  readonly description: string | undefined;
  readonly input: StandardSchema<unknown>;
  run(durable: WorkflowContext, input: Input): Promise<Output>;
}

export interface WorkflowOptions {
  /** What it is good for; told to agents that may call it. */
  readonly description?: string | undefined;
}

/** Declares a workflow. Its input is checked by the schema before the function runs. */
export function workflow<Input, Output>(
  name: string,
  input: StandardSchema<Input>,
  run: (durable: WorkflowContext, input: NoInfer<Input>) => Promise<Output>,
  { description }: WorkflowOptions = {},
): CodeWorkflow<Input, Output> {
  return { kind: "workflow", name, description, input, run: (durable, given) => run(durable, given) };
}
