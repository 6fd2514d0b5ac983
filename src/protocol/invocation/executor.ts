// Who runs an agent's loop: this orchestrator, or another one behind a runner; and what a caller may ask for.

import { z } from "zod";

/** `kind` names a registered runner; `config` is read by that runner alone. */
export const RunnerConfig = z.object({
  kind: z.string(),
  config: z.unknown().default(() => ({})),
});
export type RunnerConfig = z.infer<typeof RunnerConfig>;

const local = {
  type: z.literal("local"),
  /** The workspace of the task, as the runner `local` reads it; without one the agent works in the task's folders. */
  workspace: z.unknown().optional(),
};
const remote = { type: z.literal("remote"), runner: RunnerConfig };

export const Executor = z.discriminatedUnion("type", [z.object(local), z.object(remote)]);
export type Executor = z.infer<typeof Executor>;

/** On the wire the fields of a forced executor are beside its `kind`: `{kind: "force", type: "remote", runner: {…}}`. */
export const ExecutorHint = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("auto") }),
  z.discriminatedUnion("type", [
    z.object({ kind: z.literal("force"), ...local }),
    z.object({ kind: z.literal("force"), ...remote }),
  ]),
]);
export type ExecutorHint = z.infer<typeof ExecutorHint>;
