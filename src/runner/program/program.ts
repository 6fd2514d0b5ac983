// What a program that uses Tutti as a library brings: its agents and workflows by name, their tools, and the models that answer.

import type { AgentEnvironment } from "../../agent/agent-environment.ts";
import type { Model } from "../../model-port.ts";
import type { Durable, NewTask } from "../../ports.ts";
import type { InvocationFile } from "../../protocol/invocation/invocation-file.ts";
import type { Rights } from "../../core/rights.ts";
import type { Message } from "../../protocol/task/message.ts";

/** A durable function of the program. */
export interface ProgramWorkflow {
  readonly name: string;
  /** Throws `invalid_input` for what the workflow does not take. */
  readonly read: (input: unknown) => Promise<unknown>;
  readonly run: (durable: Durable, input: unknown) => Promise<unknown>;
}

/** An agent and its first message. */
export interface ProgramTarget {
  readonly agent: string;
  readonly message: Message;
}

export interface Program {
  /** The definitions of the agents, as in the file of an invocation. */
  readonly file: InvocationFile;
  readonly environment: AgentEnvironment;
  readonly workflows: ReadonlyMap<string, ProgramWorkflow>;
  readonly model: Model;
}

/** The task of an agent that is started from outside or by a workflow. */
export interface TargetOptions {
  readonly rights: Rights;
  readonly now: number;
  readonly budget?: NewTask["budget"];
  /** It is said into a thread, so it begins with what was said there before. */
  readonly thread?: boolean;
}
