// The checks of a project in its config: commands that prove the work of a task, and that run without anybody being asked.

import { z } from "zod";

import { readCheck } from "../../core/read-check.ts";
import { thrownMessage } from "../../protocol/error.ts";
import { NonBlank } from "../../protocol/non-blank.ts";
import { InnerPath } from "./workspaces-config.ts";

const longestMs = 24 * 3_600_000;
const word = z.string().refine((text) => !text.includes("\0"), "must not hold a NUL character");

/** Says why no program could be run, for example because only a shell understands the line. */
function mustRun(run: string | [string, ...string[]], context: z.RefinementCtx): void {
  try {
    readCheck(typeof run === "string" ? run : { run });
  } catch (thrown) {
    context.addIssue({ code: "custom", message: thrownMessage(thrown) });
  }
}

/** The program and its arguments, or one line that is split by its quotes. No shell reads either. */
const Command = z.union([NonBlank, z.tuple([word.min(1)], word)]).superRefine(mustRun);

const ProjectCheck = z.strictObject({
  /** How the check is called in reports. */
  name: NonBlank,
  run: Command,
  /** The folder that it runs in; the top of the checkout when absent. */
  cwd: InnerPath.optional(),
  /** Whether it may use the network. */
  network: z.boolean().default(false),
  timeout_ms: z.int().positive().max(longestMs).optional(),
});
export type ProjectCheck = z.infer<typeof ProjectCheck>;

/** A line alone is its own name. */
const WrittenCheck = z.preprocess(
  (value) => (typeof value === "string" ? { name: value, run: value } : value),
  ProjectCheck,
);

export const ChecksConfig = z
  .array(WrittenCheck)
  .max(50)
  .refine((checks) => new Set(checks.map(({ name }) => name)).size === checks.length, "must have different names");
