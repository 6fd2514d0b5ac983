// What an agent's task starts from. It is recorded when the task is spawned, so a restart needs nothing else.

import { z } from "zod";

import { TuttiError } from "../../protocol/error.ts";
import { GoalFile } from "../../protocol/invocation/goal-file.ts";
import { InvocationFile } from "../../protocol/invocation/invocation-file.ts";
import { AgentRef, Invocation } from "../../protocol/invocation/invocation.ts";
import { CompleteMessage, Message } from "../../protocol/task/message.ts";

/** Names of tools; `*` means every tool the task has a right to. */
export const OfferedTools = z.union([z.literal("*"), z.array(z.string()).readonly()]);
export type OfferedTools = z.infer<typeof OfferedTools>;

export const TaskInput = z.object({
  agent: AgentRef,
  /** The task's first message. */
  message: Message,
  tools: OfferedTools,
  context: z.enum(["independent", "inherited"]),
  /** It is said into the thread of its tree, so it begins with what was said there before. */
  thread: z.literal(true).optional(),
  /** In a run that begins with a handover: the message of the agent that handed over, and its name. */
  handed: z.object({ message: Message, from: z.string() }).optional(),
});
export type TaskInput = z.infer<typeof TaskInput>;

/** What a spawn stores once for all its children: the caller's conversation, for those that inherit it. */
export const SharedHistory = z.object({ history: z.array(CompleteMessage) });
export type SharedHistory = z.infer<typeof SharedHistory>;

const files = new WeakMap<object, InvocationFile>();

/** The agents and settings of a tree, read from its root's input once per tree. */
export function treeFile(rootInput: unknown): InvocationFile {
  const known = typeof rootInput === "object" && rootInput !== null ? files.get(rootInput) : undefined;
  if (known !== undefined) return known;
  const file = readTreeFile(rootInput);
  if (typeof rootInput === "object" && rootInput !== null) files.set(rootInput, file);
  return file;
}

/** The tree of a goal has agents and settings like any other, but its manager makes the tasks, so nothing is invoked. */
function readTreeFile(rootInput: unknown): InvocationFile {
  const isGoal = typeof rootInput === "object" && rootInput !== null && "goal" in rootInput;
  const parsed = isGoal ? GoalFile.safeParse(rootInput) : InvocationFile.safeParse(rootInput);
  if (!parsed.success) {
    throw new TuttiError("invalid_input", "the root of this tree holds no invocation, so its agents cannot be found", {
      cause: parsed.error,
    });
  }
  if (!("goal" in parsed.data)) return parsed.data;
  const { goal: _, ...settings } = parsed.data;
  return { ...settings, invocation: Invocation.parse({ targets: [] }) };
}
