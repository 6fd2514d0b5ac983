// Options that several commands share, and how their values are parsed.
import { InvalidArgumentError, Option } from "commander";

import { defaultLimit } from "./input.ts";

/** Of the commands that read one text, or a batch of them. */
export interface InputOptions {
  readonly json?: boolean;
  readonly jsonl?: boolean;
  readonly limit: number;
}

/** Describes the argument TASK. */
export const taskArgument =
  "the id of a task or a goal, a unique beginning or the end of it, or `last` for the newest tree";

/** Describes the argument GOAL. */
export const goalArgument = "the id of a goal or of one of its tasks, or `last` for the newest goal";

export const stateOption = (): Option =>
  new Option("--state <folder>", "the state folder (default: $TUTTI_STATE, or ~/.tutti)");
export const projectOption = (): Option =>
  new Option("--cwd <folder>", "a folder in the project (default: the current folder)");
export const jsonOption = (): Option => new Option("--json", "print the result as one JSON object");
export const jsonLinesOption = (): Option => new Option("--json", "print one JSON object per line");
export const jsonlOption = (shape: string): Option =>
  new Option("--jsonl", `batch mode: read one ${shape} per line and print one result per line, in order`);
export const limitOption = (): Option =>
  new Option("--limit <bytes>", "refuse input that is larger than this")
    .argParser(positiveInteger)
    .default(defaultLimit);

export const attemptOption = (): Option =>
  new Option(
    "--attempt <number>",
    "this attempt of the task (default: the newest, or what `tutti integrate` made)",
  ).argParser(positiveInteger);

export const noInputOption = (): Option =>
  new Option(
    "--no-input",
    "ask nothing here, as without a terminal: a question stays open at the daemon, with exit status 9; without a daemon the answer is no",
  );
export const waitOption = (): Option =>
  new Option("--wait", "without a terminal, wait until somebody answers elsewhere, with `tutti answer`");
export const yesOption = (): Option =>
  new Option(
    "-y, --yes",
    "allow what needs approval, except an unconfined program, a protected file, a config that is not trusted, and more budget",
  );

export const everyOption = (): Option =>
  new Option(
    "--every <cron>",
    'start it again and again at these times, such as "0 9 * * mon-fri"; a daemon does it, and is started if need be',
  );
export const catchUpOption = (): Option =>
  new Option("--catch-up", "with --every: start the newest time that was missed while no daemon ran");

export function commaList(text: string): string[] {
  return text
    .split(",")
    .map((item) => item.trim())
    .filter((item) => item !== "");
}

export function positiveInteger(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value <= 0) throw new InvalidArgumentError("It must be a whole number above 0.");
  return value;
}

export function portNumber(text: string): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || value > 65_535) throw new InvalidArgumentError("It must be a port, 0 to 65535.");
  return value;
}

export function mebibytes(text: string): number {
  const value = Number(text);
  if (!/^\d+(\.\d+)?$/.test(text) || value > 1e9)
    throw new InvalidArgumentError("It must be a number of MiB, 0 or more.");
  return value;
}

const fewestConnections = 16;

export function connectionCount(text: string): number {
  const value = Number(text);
  if (!/^\d{1,6}$/.test(text) || value < fewestConnections)
    throw new InvalidArgumentError(`It must be a whole number, ${fewestConnections} or more.`);
  return value;
}

const longestGrace = 600;

export function graceSeconds(text: string): number {
  const value = Number(text);
  if (!/^\d+(\.\d+)?$/.test(text) || value > longestGrace) {
    throw new InvalidArgumentError(`It must be a number of seconds, at most ${longestGrace}.`);
  }
  return value;
}

const longestTimeout = 3_600;

export function timeoutSeconds(text: string): number {
  const value = Number(text);
  if (!/^\d+(\.\d+)?$/.test(text) || value <= 0 || value > longestTimeout) {
    throw new InvalidArgumentError(`It must be a number of seconds above 0, at most ${longestTimeout}.`);
  }
  return value;
}
