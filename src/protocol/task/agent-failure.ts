// How often a coding agent failed in a row, and why: what a person looks at before it is launched again.

import { z } from "zod";
import { TaskId, Time } from "../ids.ts";

export const AgentFailure = z.strictObject({
  task: TaskId,
  attempt: z.int().positive(),
  at: Time,
  message: z.string(),
});
export type AgentFailure = z.infer<typeof AgentFailure>;

/** `agent`: as a policy names it, `acp:PROFILE[/MODEL]`. The next launch of it asks first. */
export const HeldAgent = z.strictObject({ agent: z.string(), failures: z.array(AgentFailure) });
export type HeldAgent = z.infer<typeof HeldAgent>;
