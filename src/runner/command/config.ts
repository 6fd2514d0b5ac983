// What a task of the command runner is told to run, and within which limits.

import { z } from "zod";

import { TuttiError } from "../../protocol/error.ts";
import { describeIssue, issuesOf } from "../../protocol/lenient-read.ts";
import { defaultGraceMs } from "../process/end-processes.ts";

/** No command needs a person's whole environment, and it may hold secrets. */
const defaultEnvAllow = ["PATH", "HOME", "LANG", "LC_*", "TERM", "TMPDIR", "USER", "SHELL", "TZ"];
/** Node's timers hold no more. */
const longestMs = 2_147_483_647;

const text = z.string().refine((value) => !value.includes("\0"), "must not hold a NUL character");
const filled = text.refine((value) => value.trim() !== "", "must not be blank");
/** The shell that holds the process passes on no other names. */
const variable = /^[A-Za-z_][A-Za-z0-9_]*$/;

export const CommandConfig = z
  .strictObject({
    /** The program and its arguments, passed exactly; no shell reads them. */
    argv: z.tuple([filled], text).optional(),
    /** A script for /bin/sh, when a shell is really wanted. */
    shell: filled.optional(),
    /** Relative to the first root; must lie in one of them. */
    workdir: filled.optional(),
    env: z.record(z.string().regex(variable, "must be the name of a variable"), text).default({}),
    /** Names passed on from our own environment; a `*` at the end stands for any rest. */
    env_allow: z
      .array(
        z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*\*?$/, "must be the name of a variable, or its beginning and a *"),
      )
      .default(defaultEnvAllow),
    /** The text of the task's message when absent. */
    stdin: z.string().optional(),
    timeout_ms: z
      .int()
      .positive()
      .max(longestMs)
      .default(30 * 60_000),
    /** Between asking the processes to end and killing them. */
    grace_ms: z.int().nonnegative().max(60_000).default(defaultGraceMs),
    /** Kept of stdout and of stderr, each. */
    max_output_bytes: z
      .int()
      .min(1_024)
      .max(16 * 2 ** 20)
      .default(256 * 2 ** 10),
    /** May it be run again when it was interrupted? */
    repeatable: z.boolean().default(false),
    ok_exit: z.array(z.int().min(0).max(255)).min(1).default([0]),
  })
  .refine(
    ({ argv, shell }) => (argv === undefined) !== (shell === undefined),
    "needs either argv or shell, and not both",
  );
export type CommandConfig = z.infer<typeof CommandConfig>;

export function readCommandConfig(config: unknown): CommandConfig {
  const read = CommandConfig.safeParse(config);
  if (read.success) return read.data;
  const issues = issuesOf(read.error).map(describeIssue);
  throw new TuttiError("invalid_input", `the config of the command runner cannot be used: ${issues.join("; ")}`, {
    details: { issues },
  });
}

/** For people; long ones are cut. */
export function commandLine({ argv, shell }: CommandConfig): string {
  const line =
    shell ?? (argv ?? []).map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : JSON.stringify(word))).join(" ");
  return line.length > 120 ? `${line.slice(0, 119)}…` : line;
}
