// Runs git and gh for the person, with their own settings and logins: nobody to ask, bounded in time and output, ended when Tutti stops.

import { type ChildProcess, spawn } from "node:child_process";

import type { ProgramOutput, ProgramStep } from "../../core/pull-request.ts";
import { ownPath } from "../../files/own-environment.ts";
import { TuttiError } from "../../protocol/error.ts";

const mostOutput = 1024 * 1024;
const graceMs = 2_000;

/** Throws `deadline` or `canceled` when the program was ended. One that cannot be started has the code null. */
export async function runPersonsProgram(step: ProgramStep, signal: AbortSignal): Promise<ProgramOutput> {
  const [program, ...args] = step.argv;
  const named = `${program} ${args[0] ?? ""}`;
  if (signal.aborted) throw stopped(named);
  const child = spawn(program, args, {
    cwd: step.cwd,
    env: {
      ...process.env,
      PATH: ownPath(),
      GH_PROMPT_DISABLED: "1",
      GIT_TERMINAL_PROMPT: "0",
      GIT_PAGER: "cat",
      NO_COLOR: "1",
      LC_ALL: "C",
    },
    // Without a terminal that ssh could ask on, and with a group that ends as a whole.
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const heard = { out: "", err: "" };
  child.stdout.setEncoding("utf8").on("data", (text: string) => (heard.out = (heard.out + text).slice(-mostOutput)));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (heard.err = (heard.err + text).slice(-mostOutput)));
  let why: TuttiError | undefined;
  let killer: NodeJS.Timeout | undefined;
  const end = (error: TuttiError): void => {
    why ??= error;
    killer ??= endGroup(child);
  };
  const seconds = step.timeoutMs / 1_000;
  const late = new TuttiError("deadline", `${named} took longer than ${seconds} s and was ended; try it in a terminal`);
  const timer = setTimeout(() => end(late), step.timeoutMs);
  const onAbort = (): void => end(stopped(named));
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    const code = await new Promise<number | null>((resolve) => {
      child.once("error", (cause) => {
        heard.err ||= cause.message;
        resolve(null);
      });
      child.once("close", resolve);
    });
    if (why !== undefined) throw why;
    return { code, ...heard };
  } finally {
    clearTimeout(timer);
    clearTimeout(killer);
    signal.removeEventListener("abort", onAbort);
  }
}

function stopped(named: string): TuttiError {
  return new TuttiError("canceled", `${named} was ended, because Tutti stops`);
}

/** Returns the timer of the last resort. */
function endGroup({ pid, stdout, stderr }: ChildProcess): NodeJS.Timeout | undefined {
  if (pid === undefined) return undefined;
  const send = (signal: NodeJS.Signals): void => {
    try {
      process.kill(-pid, signal);
    } catch {
      // The whole group has ended.
    }
  };
  send("SIGTERM");
  return setTimeout(() => {
    send("SIGKILL");
    // Something that left the group may hold them open.
    stdout?.destroy();
    stderr?.destroy();
  }, graceMs);
}
