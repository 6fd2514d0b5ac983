// Puts a program and its environment behind what confines it: nothing that is started before the program sees any of its variables.

import { nodeVariable } from "../../../files/own-environment.ts";
import { TuttiError } from "../../../protocol/error.ts";
import { stepVariable } from "./end-processes.ts";

/** A program as it is meant to run: its absolute path, its arguments, and the whole environment that it gets. */
export interface Program {
  readonly argv: readonly [string, ...string[]];
  /** It may come from a session, a repository or a server, so it is never the environment of anything else. */
  readonly env: Readonly<Record<string, string>>;
}

/** What confines a program. All of its words are Tutti's own. */
export interface Launcher {
  readonly by: "bubblewrap" | "sandbox-exec";
  /** The program that confines, and its arguments up to the two dashes, after which the confined program comes. */
  readonly argv: readonly [string, ...string[]];
}

/** What is started first, and what it reads from descriptor 3 before it starts the program. */
interface Launch {
  readonly argv: readonly string[];
  readonly input: string;
}

/** The marks of processes are Tutti's, so that nobody can hide a process or pass it off as one of another step. */
const reserved = new Set([stepVariable, nodeVariable]);
const variableName = /^[A-Za-z_][A-Za-z0-9_]*$/;
/** What Linux and macOS take, for one variable and for all of them. */
const [longestVariable, longestEnvironment] = [128 * 1024, 768 * 1024];

/** Reads lines to the end of the descriptor and runs them: the variables, and at last the program. A part of them runs nothing. */
export const enter = 'lines=; while IFS= read -r line <&3; do lines="$lines$line\n"; done; exec 3<&-; eval "$lines"';

/** Why no process can get such a variable; undefined when it can. */
export function variableProblem(name: string, value: string): string | undefined {
  if (!variableName.test(name)) return "is no name of a variable";
  if (reserved.has(name)) return "is a variable of Tutti's own";
  return value.includes("\0") ? "has a value with a NUL character" : undefined;
}

/** Values go through the descriptor, because every user of the machine can read the arguments of a process. */
export function launchOf(launcher: Launcher | undefined, program: Program, step: string): Launch {
  const variables = checked(program.env, step);
  if (launcher?.by === "bubblewrap") {
    const [confiner, ...args] = launcher.argv;
    // Bubblewrap itself was started with nothing but what is set here again.
    const words = variables.flatMap(([name, value]) => ["--setenv", name, value]);
    return {
      argv: [confiner, "--args", "3", ...args, "--", ...program.argv],
      input: words.map((word) => `${word}\0`).join(""),
    };
  }
  const input = [...variables.map(exported), 'exec "$@"\n'].join("");
  if (launcher === undefined) return { argv: program.argv, input };
  return { argv: [...launcher.argv, "--", "/bin/sh", "-c", enter, "sh", ...program.argv], input };
}

/** `command`: a variable that the shell keeps for itself, such as UID, ends nothing. */
function exported([name, value]: readonly [string, string]): string {
  return `command export '${name}=${value.replaceAll("'", "'\\''")}'\n`;
}

/** The mark of the step comes last, so that it holds. */
function checked(env: Readonly<Record<string, string>>, step: string): (readonly [string, string])[] {
  const variables = Object.entries(env);
  let length = 0;
  for (const [name, value] of variables) {
    const problem = variableProblem(name, value);
    if (problem !== undefined)
      throw new TuttiError("refused", `no program is started with ${JSON.stringify(name)}: it ${problem}`);
    const size = Buffer.byteLength(name) + Buffer.byteLength(value) + 2;
    length += size;
    if (size > longestVariable || length > longestEnvironment) {
      throw new TuttiError("io", "no process could be started: its environment is too long", { retry: "safe" });
    }
  }
  return [...variables, [stepVariable, step]];
}
