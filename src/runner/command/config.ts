// The config of the command runner: which program to run, and within which limits.

import { z } from "zod";

import { argvLine } from "../../protocol/argv-line.ts";
import { defaultGraceMs } from "../shared/process/end-processes.ts";
import { readRunnerConfig } from "../shared/runner-config.ts";

/** A person's whole environment may hold secrets, and no command needs all of it. */
const defaultEnvAllow = ["PATH", "HOME", "LANG", "LC_*", "TERM", "TMPDIR", "USER", "SHELL", "TZ"];
/** The longest time a timer of Node can hold. */
const longestMs = 2_147_483_647;

const text = z.string().refine((value) => !value.includes("\0"), "must not hold a NUL character");
const filled = text.refine((value) => value.trim() !== "", "must not be blank");
/** The shell that starts the program passes on only variables with such names. */
const variable = /^[A-Za-z_][A-Za-z0-9_]*$/;

export const CommandConfig = z
  .strictObject({
    /** The program and its arguments, passed exactly as they are, without a shell. */
    argv: z.tuple([filled], text).optional(),
    /** A script for /bin/sh, instead of `argv`. */
    shell: filled.optional(),
    /** Relative to the first root; must be inside one of the roots. */
    workdir: filled.optional(),
    env: z.record(z.string().regex(variable, "must be the name of a variable"), text).default({}),
    /** Names of variables passed on from our own environment; a `*` at the end matches any rest of a name. */
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
    /** The time between asking the processes to end and killing them. */
    grace_ms: z.int().nonnegative().max(60_000).default(defaultGraceMs),
    /** How much of stdout and of stderr is kept, each. */
    max_output_bytes: z
      .int()
      .min(1_024)
      .max(16 * 2 ** 20)
      .default(256 * 2 ** 10),
    /** Whether the command may run again after it was interrupted. */
    repeatable: z.boolean().default(false),
    ok_exit: z.array(z.int().min(0).max(255)).min(1).default([0]),
  })
  .refine(
    ({ argv, shell }) => (argv === undefined) !== (shell === undefined),
    "needs either argv or shell, and not both",
  );
export type CommandConfig = z.infer<typeof CommandConfig>;

export function readCommandConfig(config: unknown): CommandConfig {
  return readRunnerConfig("command", CommandConfig, config);
}

/** The command as people are shown it; a long one is cut. */
export function commandLine({ argv, shell }: CommandConfig): string {
  const line = shell ?? argvLine(argv ?? []);
  return line.length > 120 ? `${line.slice(0, 119)}…` : line;
}
