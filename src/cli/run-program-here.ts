// Starts programs of the person for them, with their own environment: an editor, git and gh.
import { spawn } from "node:child_process";

import { ownPath } from "../files/own-environment.ts";
import { TuttiError } from "../protocol/error.ts";

export interface ProgramOutput {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

type Argv = readonly [program: string, ...args: string[]];

/** The program gets the terminal. Resolves with its exit status. */
export function startThere(argv: Argv, cwd: string): Promise<number | null> {
  const [program, ...args] = argv;
  return new Promise((done, failed) => {
    const child = spawn(program, args, { cwd, stdio: "inherit" });
    child.once("error", (cause) => failed(notStarted(program, cause)));
    child.once("close", (code) => done(code));
  });
}

const mostOutput = 1024 * 1024;

/** What the program prints is given back, so that it is made safe before it is shown. It asks no questions. */
export function runHere(argv: Argv, cwd: string): Promise<ProgramOutput> {
  const [program, ...args] = argv;
  return new Promise((done, failed) => {
    const env = {
      ...process.env,
      PATH: ownPath(),
      GH_PROMPT_DISABLED: "1",
      NO_COLOR: "1",
      GIT_PAGER: "cat",
      LC_ALL: "C",
    };
    const child = spawn(program, args, { cwd, env, stdio: ["ignore", "pipe", "pipe"] });
    const heard = { out: "", err: "" };
    const hear = (channel: "out" | "err") => (chunk: string) => {
      heard[channel] = (heard[channel] + chunk).slice(-mostOutput);
    };
    child.stdout.setEncoding("utf8").on("data", hear("out"));
    child.stderr.setEncoding("utf8").on("data", hear("err"));
    child.once("error", (cause) => failed(notStarted(program, cause)));
    child.once("close", (code) => done({ code, ...heard }));
  });
}

function notStarted(program: string, cause: Error): TuttiError {
  return new TuttiError("not_found", `${program} cannot be started: ${cause.message}`, { cause });
}
