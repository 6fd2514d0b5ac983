// How verification runs a program: a function that whoever builds it gives, because the sandbox belongs to another layer.

import type { ProgramOutcome } from "../core/check-outcome.ts";

export interface CheckProgram {
  /** The program and its arguments. No shell reads them. */
  readonly argv: readonly [string, ...string[]];
  readonly cwd: string;
  /** The only folder that the program may change. */
  readonly folder: string;
  /** A folder that does not exist yet: the home of this program alone, removed when it has ended. */
  readonly home: string;
  /** Folders that it must be able to read, wherever they lie. */
  readonly readable: readonly string[];
  readonly network: boolean;
  readonly timeoutMs: number;
  /** How much of stdout and of stderr is kept, each: the beginning and the end. */
  readonly maxOutputBytes: number;
}

/**
 * Runs the program confined, without keys, and leaves no process behind. A program that cannot be started is an outcome; an
 * aborted signal is thrown.
 */
export type RunProgram = (program: CheckProgram, signal: AbortSignal) => Promise<ProgramOutcome>;
