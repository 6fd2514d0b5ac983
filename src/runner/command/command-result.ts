// The recorded result of a command, and whether it means that the task failed.

import { z } from "zod";

import { TuttiError } from "../../protocol/error.ts";
import { type CommandConfig, commandLine } from "./config.ts";

export const CommandResult = z.strictObject({
  /** Null when a signal ended the command. */
  exit_code: z.int().nullable(),
  signal: z.string().nullable(),
  timed_out: z.boolean(),
  /** Of an output over the limit: its beginning and its end, with a line between them that says how much was left out. */
  stdout: z.string(),
  stderr: z.string(),
  truncated: z.boolean(),
  duration_ms: z.int().nonnegative(),
  /** How many processes the command left behind; they were ended too. */
  leftovers: z.int().nonnegative(),
});
export type CommandResult = z.infer<typeof CommandResult>;

/** How much of the output is part of an error; the recorded step has the rest. */
const tailLength = 4_096;

/** Undefined when the command succeeded. */
export function commandFailure(config: CommandConfig, result: CommandResult): TuttiError | undefined {
  const { exit_code, signal, timed_out, duration_ms } = result;
  const details = {
    exit_code,
    signal,
    duration_ms,
    stdout_tail: tail(result.stdout),
    stderr_tail: tail(result.stderr),
  };
  const line = commandLine(config);
  if (timed_out) {
    const message = `the command ran longer than its ${config.timeout_ms} ms and was ended: ${line}`;
    return new TuttiError("deadline", message, { details, retry: "unknown" });
  }
  if (exit_code !== null && config.ok_exit.includes(exit_code)) return undefined;
  const how = signal === null ? `ended with exit status ${exit_code}` : `was ended by ${signal}`;
  const output = lastLine(result.stderr) ?? lastLine(result.stdout);
  return new TuttiError("task_failed", `the command ${how}: ${line}${output === undefined ? "" : ` (${output})`}`, {
    details,
  });
}

function tail(output: string): string {
  return output.length <= tailLength ? output : `…${output.slice(1 - tailLength)}`.toWellFormed();
}

function lastLine(output: string): string | undefined {
  const line = output.trimEnd().split("\n").at(-1)?.trim();
  return line === undefined || line === "" ? undefined : line.slice(0, 300).toWellFormed();
}
