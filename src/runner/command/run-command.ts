// Runs a command from start to end and leaves no process behind. A process is started held, and released once its pid is recorded.

import { isKilled } from "../../core/end-reasons.ts";
import { TuttiError } from "../../protocol/error.ts";
import type { StepContext } from "../../ports.ts";
import { cleanUp } from "../shared/process/clean-up.ts";
import { endProcesses, type ProcessNote } from "../shared/process/end-processes.ts";
import { type HeldProcess, startHeld } from "../shared/process/held-process.ts";
import type { Launcher } from "../shared/process/launcher.ts";
import { within } from "../shared/process/within.ts";
import type { CommandConfig } from "./config.ts";
import { environmentOf, programOf, workdirOf } from "./resolve-command.ts";
import type { CommandResult } from "./command-result.ts";
import { keptOutput } from "./kept-output.ts";
import { liveOutput } from "./live-output.ts";

/** How long to wait after the exit for output that comes through another process, such as `| tee`. */
const drainMs = 500;
/**
 * How long to wait, after a signal from outside ended a command, for the news that Tutti is being stopped: a service
 * manager sends the same signal to both, and the command may be the first to react.
 */
const stopNewsMs = 200;
/** The signals that service managers and terminals send to every process of a service. */
const stopSignals: ReadonlySet<string> = new Set(["SIGTERM", "SIGINT", "SIGHUP", "SIGKILL"]);

export interface CommandOptions {
  readonly config: CommandConfig;
  /** What confines the program; nothing does when absent. */
  readonly launcher?: Launcher | undefined;
  readonly stdin: string;
  /** The folders the command may run in. */
  readonly roots: readonly string[];
  readonly offLimits: readonly string[];
  /** Awaited before the program begins. */
  readonly onProcess?: (process: ProcessNote) => Promise<void>;
}

export async function runCommand(
  { config, launcher, stdin, roots, offLimits, onProcess }: CommandOptions,
  context: StepContext,
): Promise<CommandResult> {
  // Recovery has already ended the processes of an earlier try; this also covers callers without recovery.
  await cleanUp(context.noted);
  const cwd = await workdirOf(config.workdir, { roots, offLimits });
  const env = environmentOf(config);
  const argv = await argvOf(config, cwd, env);
  context.signal.throwIfAborted();
  const held = await startHeld({ program: { argv, env }, launcher, cwd, step: context.key });
  try {
    await onProcess?.(held.note);
    await context.note({ process: held.note });
    context.signal.throwIfAborted();
    const result = await watch(held, { config, stdin, context });
    held.letGo();
    return result;
  } catch (thrown) {
    // Letting go comes first: a process that was never released then ends by itself without running anything.
    held.letGo();
    await endAll(held, config.grace_ms);
    throw thrown;
  }
}

async function argvOf(
  config: CommandConfig,
  cwd: string,
  env: Readonly<Record<string, string>>,
): Promise<[string, ...string[]]> {
  if (config.argv === undefined) return ["/bin/sh", "-c", config.shell ?? ""];
  const [name, ...rest] = config.argv;
  return [await programOf(name, cwd, env), ...rest];
}

async function watch(
  held: HeldProcess,
  { config, stdin, context }: { config: CommandConfig; stdin: string; context: StepContext },
): Promise<CommandResult> {
  const kept = { stdout: keptOutput(config.max_output_bytes), stderr: keptOutput(config.max_output_bytes) };
  const live = liveOutput((text) => context.live("output", text));
  for (const stream of ["stdout", "stderr"] as const) {
    held[stream].on("data", (chunk: Buffer) => {
      kept[stream].add(chunk);
      live.add(stream, chunk);
    });
  }
  const began = performance.now();
  held.release();
  held.stdin.end(stdin);

  const ended = endedOrAborted(held, context.signal);
  const timed_out = !(await within(ended, config.timeout_ms));
  const duration_ms = Math.round(performance.now() - began);
  if (!timed_out && !context.signal.aborted) await awaitStopNews(held, context.signal);
  const wasStopped = timed_out || context.signal.aborted;
  if (!wasStopped) await within(held.closed, drainMs);
  const found = await endAll(held, isKilled(context.signal) ? 0 : config.grace_ms);
  // A process that left the POSIX session may hold the output open for ever, so this wait is bounded.
  await within(held.closed, drainMs);
  live.end();
  context.signal.throwIfAborted();
  const { code, signal } = await held.exited;
  if (!timed_out && signal !== null && stopSignals.has(signal) && context.stopping === true) {
    throw new TuttiError("stopped", `the command was ended by ${signal} while Tutti was being stopped`);
  }
  return {
    exit_code: code,
    signal,
    timed_out,
    stdout: kept.stdout.text(),
    stderr: kept.stderr.text(),
    truncated: kept.stdout.truncated || kept.stderr.truncated,
    duration_ms,
    leftovers: wasStopped ? 0 : found,
  };
}

async function awaitStopNews(held: HeldProcess, aborted: AbortSignal): Promise<void> {
  const { signal } = await held.exited;
  if (signal === null || !stopSignals.has(signal)) return;
  await within(new Promise<void>((resolve) => aborted.addEventListener("abort", () => resolve())), stopNewsMs);
}

function endedOrAborted(held: HeldProcess, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      signal.removeEventListener("abort", done);
      resolve();
    };
    signal.addEventListener("abort", done);
    if (signal.aborted) done();
    void held.exited.then(done);
  });
}

async function endAll(held: HeldProcess, graceMs: number): Promise<number> {
  const { found, left } = await endProcesses(held.note, { graceMs });
  if (left.length === 0) return found;
  throw new TuttiError("io", `process ${left.join(", ")} of the command cannot be ended; end it yourself`, {
    details: { pids: left },
  });
}
