// The checks of a project in its config: commands that prove the work of a task, and that run without anybody being asked.

import { z } from "zod";

import { NonBlank } from "../../protocol/non-blank.ts";
import { InnerPath } from "./workspaces-config.ts";

const longestMs = 24 * 3_600_000;
const word = z.string().refine((text) => !text.includes("\0"), "must not hold a NUL character");

/** The program and its arguments, or one line that is split by its quotes. No shell reads either. */
const Command = z.union([NonBlank, z.tuple([word.min(1)], word)]);

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
const WrittenCheck = z.union([
  NonBlank.transform((run): ProjectCheck => ({ name: run, run, network: false })),
  ProjectCheck,
]);

export const ChecksConfig = z
  .array(WrittenCheck)
  .max(50)
  .refine((checks) => new Set(checks.map(({ name }) => name)).size === checks.length, "must have different names");
