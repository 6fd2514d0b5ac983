// Runs a program of the user's to its end, or ends it with everything it started.

import { type ChildProcess, spawn } from "node:child_process";

import type { Environment } from "../../model/resolve-model.ts";
import type { Clock } from "../../ports.ts";

export interface Ran {
  /** Undefined when all went well. */
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
const graceMs = 2_000;
/** Something it left behind may hold its output open. */
const lingerMs = 1_000;

/** Never throws. The program leads a group of its own, which is asked to end and then killed when its time is over. */
export function runProgram(argv: readonly string[], options: RunOptions): Promise<Ran> {
  const { promise, resolve } = Promise.withResolvers<Ran>();
  const { clock, signal } = options;
  if (signal.aborted) return Promise.resolve({ problem: "stopped", output: "" });
  const child = spawned(argv, options.env);
  if (typeof child === "string") return Promise.resolve({ problem: child, output: "" });
  const { stdin, stdout, stderr } = child;
  const timers: (() => void)[] = [];
  let output = "";
  let ended: string | undefined;

  const finish = (problem: string | undefined): void => {
    for (const stop of timers) stop();
    signal.removeEventListener("abort", onAbort);
    for (const stream of [stdin, stdout, stderr]) stream?.destroy();
    resolve({ problem, output });
  };
  const end = (why: string): void => {
    if (ended !== undefined) return;
    ended = why;
    endGroup(child.pid, "SIGTERM");
    timers.push(clock.timer(graceMs, () => endGroup(child.pid, "SIGKILL")));
  };
  const onAbort = (): void => end("stopped");
  const problemOf = (code: number | null, by: NodeJS.Signals | null): string | undefined => {
    if (ended !== undefined) return ended;
    if (code === 0) return undefined;
    return code === null ? `it was ended by ${by ?? "a signal"}` : `it ended with status ${code}`;
  };

  timers.push(clock.timer(options.timeoutMs, () => end(`it did not end in ${options.timeoutMs / 1000} s`)));
  signal.addEventListener("abort", onAbort);
  for (const stream of [stdout, stderr]) {
    stream?.setEncoding("utf8");
    stream?.on("data", (text: string) => (output += text.slice(0, maxOutput - output.length)));
    stream?.on("error", () => undefined);
  }
  child.on("error", (error) => finish(cannotRun(error)));
  child.on("exit", (code, by) => timers.push(clock.timer(lingerMs, () => finish(problemOf(code, by)))));
  child.on("close", (code, by) => finish(problemOf(code, by)));
  // One that does not read its input is as good as one that does.
  stdin?.on("error", () => undefined);
  stdin?.end(options.input);
  return promise;
}

/** Node throws some of the reasons why a program cannot be run and tells the others later; without descriptors left there are no streams. */
function spawned([program = "", ...rest]: readonly string[], env: Environment): ChildProcess | string {
  try {
    return spawn(program, rest, { env: { ...env }, detached: true, stdio: ["pipe", "pipe", "pipe"] });
  } catch (thrown) {
    return cannotRun(thrown);
  }
}

function cannotRun(thrown: unknown): string {
  if (!(thrown instanceof Error)) return `it cannot be run: ${String(thrown)}`;
  return `it cannot be run: ${"code" in thrown ? String(thrown.code) : thrown.message}`;
}

function endGroup(pid: number | undefined, signal: "SIGTERM" | "SIGKILL"): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, signal);
  } catch {
    // Gone meanwhile.
  }
}
