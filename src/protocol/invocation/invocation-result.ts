// What an invocation gives back, by how the caller waited, and the snapshot of a task that supervision tools return.

import { z } from "zod";
import { Executor } from "./executor.ts";
import { TaskStatus } from "../task/task-status.ts";

export const AgentResult = z.object({
  /** What the task produced, text or structured; null when it produced nothing. */
  content: z.unknown(),
  /** Of a result that was cut: how many characters it has. `content` is then text, and says where the rest can be read. */
  whole_length: z.int().optional(),
  task_id: z.string(),
  status: TaskStatus,
});
export type AgentResult = z.infer<typeof AgentResult>;

/** `scalar` for join single, `vector` for all, `task_ids` for detached; in the order of the targets. */
export const InvocationResult = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("scalar"), result: AgentResult }),
  z.object({ kind: z.literal("vector"), results: z.array(AgentResult) }),
  z.object({ kind: z.literal("task_ids"), task_ids: z.array(z.string()) }),
]);
export type InvocationResult = z.infer<typeof InvocationResult>;

export const TaskSnapshot = z.object({
  task_id: z.string(),
  agent_id: z.string(),
  status: TaskStatus,
  /** The config of its runner is shown without secrets. */
  executor: Executor,
  /** When its first attempt began; when it was made, while it has not begun. */
  started_at: z.int(),
  last_event_at: z.int(),
  ended_at: z.int().nullable().default(null),
  /** The last thing said while it runs, the result once it is done. */
  preview: z.string().optional(),
});
export type TaskSnapshot = z.infer<typeof TaskSnapshot>;
