// Runs a program of the user to its end. If it takes too long, it is ended with everything it started.

import { type ChildProcess, spawn } from "node:child_process";

import { ownPath } from "../../files/own-environment.ts";
import type { Environment } from "../../model/resolve-model.ts";
import type { Clock } from "../../ports.ts";

export interface ProgramResult {
  /** Undefined if the program ended with status 0. */
  readonly problem: string | undefined;
  /** The beginning of what it printed. */
  readonly output: string;
}

export interface RunOptions {
  readonly env: Environment;
  readonly input: string;
  readonly timeoutMs: number;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

const maxOutput = 4 * 1024;
/** The time between SIGTERM and SIGKILL. */
const graceMs = 2_000;
/** How long we wait for the output to end after the program has: a process it left behind may hold it open. */
const lingerMs = 1_000;

/** Never throws. The program leads a process group of its own, which is terminated when its time is over. */
export function runProgram(argv: readonly string[], options: RunOptions): Promise<ProgramResult> {
  const { promise, resolve } = Promise.withResolvers<ProgramResult>();
  const { clock, signal } = options;
  if (signal.aborted) return Promise.resolve({ problem: "stopped", output: "" });
  const child = start(argv, options.env);
  if (typeof child === "string") return Promise.resolve({ problem: child, output: "" });
  const { stdin, stdout, stderr } = child;
  const timers: (() => void)[] = [];
  let output = "";
  let terminatedFor: string | undefined;

  const finish = (problem: string | undefined): void => {
    for (const cancel of timers) cancel();
    signal.removeEventListener("abort", onAbort);
    for (const stream of [stdin, stdout, stderr]) stream?.destroy();
    resolve({ problem, output });
  };
  const terminate = (reason: string): void => {
    if (terminatedFor !== undefined) return;
    terminatedFor = reason;
    signalGroup(child.pid, "SIGTERM");
    timers.push(clock.timer(graceMs, () => signalGroup(child.pid, "SIGKILL")));
  };
  const onAbort = (): void => terminate("stopped");
  const problemOf = (code: number | null, by: NodeJS.Signals | null): string | undefined => {
    if (terminatedFor !== undefined) return terminatedFor;
    if (code === 0) return undefined;
    return code === null ? `it was ended by ${by ?? "a signal"}` : `it ended with status ${code}`;
  };

  timers.push(clock.timer(options.timeoutMs, () => terminate(`it did not end in ${options.timeoutMs / 1000} s`)));
  signal.addEventListener("abort", onAbort);
  for (const stream of [stdout, stderr]) {
    stream?.setEncoding("utf8");
    stream?.on("data", (text: string) => (output += text.slice(0, maxOutput - output.length)));
    stream?.on("error", () => undefined);
  }
  child.on("error", (error) => finish(cannotRun(error)));
  child.on("exit", (code, by) => timers.push(clock.timer(lingerMs, () => finish(problemOf(code, by)))));
  child.on("close", (code, by) => finish(problemOf(code, by)));
  // A program may end without having read its input.
  stdin?.on("error", () => undefined);
  stdin?.end(options.input);
  return promise;
}

/**
 * Node throws some of the reasons why a program cannot be started, and reports the others with an `error` event. Nothing is looked
 * for in the folders that a project has put into the PATH: whatever works on the project can put a program there.
 */
function start([program = "", ...rest]: readonly string[], env: Environment): ChildProcess | string {
  try {
    return spawn(program, rest, {
      env: { ...env, PATH: ownPath(env["PATH"]) },
      detached: true,
      stdio: ["pipe", "pipe", "pipe"],
    });
  } catch (thrown) {
    return cannotRun(thrown);
  }
}

function cannotRun(thrown: unknown): string {
  if (!(thrown instanceof Error)) return `it cannot be run: ${String(thrown)}`;
  return `it cannot be run: ${"code" in thrown ? String(thrown.code) : thrown.message}`;
}

function signalGroup(pid: number | undefined, signal: "SIGTERM" | "SIGKILL"): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, signal);
  } catch {
    // The group has ended meanwhile.
  }
}
