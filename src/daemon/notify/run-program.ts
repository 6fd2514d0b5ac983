// Runs a program of the user's to its end, or ends it with everything it started.

import { spawn } from "node:child_process";

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
  const [program = "", ...rest] = argv;
  const child = spawn(program, rest, { env: { ...options.env }, detached: true, stdio: ["pipe", "pipe", "pipe"] });
  const timers: (() => void)[] = [];
  let output = "";
  let ended: string | undefined;

  const finish = (problem: string | undefined): void => {
    for (const stop of timers) stop();
    signal.removeEventListener("abort", onAbort);
    for (const stream of child.stdio) stream?.destroy();
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
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8");
    stream.on("data", (text: string) => (output += text.slice(0, maxOutput - output.length)));
    stream.on("error", () => undefined);
  }
  child.on("error", (error) => finish(`it cannot be run: ${"code" in error ? String(error.code) : error.message}`));
  child.on("exit", (code, by) => timers.push(clock.timer(lingerMs, () => finish(problemOf(code, by)))));
  child.on("close", (code, by) => finish(problemOf(code, by)));
  // One that does not read its input is as good as one that does.
  child.stdin.on("error", () => undefined);
  child.stdin.end(options.input);
  return promise;
}

function endGroup(pid: number | undefined, signal: "SIGTERM" | "SIGKILL"): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, signal);
  } catch {
    // Gone meanwhile.
  }
}
