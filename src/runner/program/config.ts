// What a task of a program starts from, beside the input of an agent: a workflow with its input, or several targets at once.

import { z } from "zod";

import { Message } from "../../protocol/task/message.ts";

/** The name of the task above several targets; no agent of a program can have it. */
export const fanOutName = "_fan_out";

/** Begins the keys that a workflow chose itself, which so cannot meet those of the engine. */
export const workflowPrefix = "w:";

export const WorkflowInput = z.object({ workflow: z.string(), input: z.unknown() });
export type WorkflowInput = z.infer<typeof WorkflowInput>;

export const FanOutInput = z.object({ fan_out: z.array(z.object({ agent: z.string(), message: Message })) });
export type FanOutInput = z.infer<typeof FanOutInput>;

/** How the targets of a fan-out ended, in their order. Their results stand in their own tasks. */
export const FanOutResult = z.object({ tasks: z.array(z.string()) });
export type FanOutResult = z.infer<typeof FanOutResult>;
