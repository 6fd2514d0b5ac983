// Who makes an invocation, and what the tasks it creates are checked against.

import type { Rights } from "../../core/rights.ts";
import type { AgentDefinition, InvocationFile } from "../../protocol/invocation/invocation-file.ts";
import type { AgentEnvironment } from "../agent-environment.ts";
import type { OfferedTools, TaskInput } from "./task-input.ts";

/** An agent in its task, or somebody outside who starts a tree. */
export interface Caller {
  readonly file: InvocationFile;
  readonly environment: AgentEnvironment;
  readonly rights: Rights;
  /** The tools the caller itself is offered. */
  readonly offeredTools: OfferedTools;
  /** Undefined when the invocation comes from outside. */
  readonly agent: { readonly id: string; readonly definition: AgentDefinition; readonly input: TaskInput } | undefined;
  /** Becomes the time of a message that has none. */
  readonly now: number;
}
