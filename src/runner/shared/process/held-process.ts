// Starts a process that is held: it runs nothing until it is released, and nothing at all if we die before that.

import { type ChildProcess, spawn } from "node:child_process";
import { Readable, Writable } from "node:stream";

import { errno } from "../../../core/errno.ts";
import { withoutInherited } from "../../../files/inherited-descriptors.ts";
import { TuttiError } from "../../../protocol/error.ts";
import { type ProcessNote, stepVariable } from "./end-processes.ts";
import { enter, type Launcher, launchOf, type Program } from "./launcher.ts";
import { groupFor } from "./run-cgroup.ts";
import { processPlace, processTable } from "./process-table.ts";

/** The shell waits for a line on descriptor 3. If we die, it reads the end of file instead and exits without running anything. */
const hold = 'read -r go <&3 && [ "$go" = go ] || exit 125; ';
/** What comes after the line is for whoever starts the program with its environment: bubblewrap, or else this shell. */
const [holdForLauncher, holdForProgram] = [`${hold}exec "$@"`, `${hold}${enter}`];

interface Held {
  readonly program: Program;
  /** What confines the program. Nothing does when absent. */
  readonly launcher?: Launcher | undefined;
  readonly cwd: string;
  /** The idempotency key of the step that the process belongs to. */
  readonly step: string;
}

export interface HeldProcess {
  /** Must be recorded durably before the release. */
  readonly note: ProcessNote;
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  readonly exited: Promise<{ readonly code: number | null; readonly signal: string | null }>;
  /** Resolves when the process has exited and no other process holds its output open. */
  readonly closed: Promise<void>;
  release(): void;
  /** Closes all streams we share with the process, so that it does not keep our own process alive. */
  letGo(): void;
}

/**
 * The shell that holds, and what confines the program, are started with the mark of the step and no other variable: what a
 * session, a repository or a server names reaches the program alone.
 */
export async function startHeld(held: Held): Promise<HeldProcess> {
  const { argv, input } = launchOf(held.launcher, held.program, held.step);
  const child = spawned(argv, held);
  const exited = new Promise<{ code: number | null; signal: string | null }>((resolve) => {
    child.once("exit", (code, signal) => resolve({ code, signal }));
  });
  const closed = new Promise<void>((resolve) => {
    child.once("close", () => resolve());
  });
  await started(child, held.cwd);
  const pid = child.pid ?? 0;
  const [stdin, stdout, stderr, control] = child.stdio;
  const start = await processTable.start(pid);
  if (!(stdin instanceof Writable) || !(stdout instanceof Readable) || !(stderr instanceof Readable)) throw lost();
  if (!(control instanceof Writable) || start === undefined) throw lost();
  // Streams of a process that has ended report errors; its exit is reported separately.
  for (const stream of [stdin, stdout, stderr, control]) stream.on("error", () => undefined);
  const cgroup = groupFor(pid);
  return {
    note: {
      pid,
      start,
      group: pid,
      step: held.step,
      place: processPlace(),
      ...(cgroup === undefined ? {} : { cgroup }),
    },
    stdin,
    stdout,
    stderr,
    exited,
    closed,
    release: () => {
      control.end(`go\n${input}`);
    },
    letGo: () => {
      for (const stream of [stdin, stdout, stderr, control]) stream.destroy();
      child.unref();
    },
  };
}

function spawned(argv: readonly string[], { launcher, cwd, step }: Held): ChildProcess {
  try {
    return spawn("/bin/sh", ["-c", launcher === undefined ? holdForProgram : holdForLauncher, "sh", ...argv], {
      cwd,
      env: { [stepVariable]: step },
      detached: true,
      stdio: ["pipe", "pipe", "pipe", "pipe", ...withoutInherited(4)],
    });
  } catch (thrown) {
    throw notStarted(cwd, thrown);
  }
}

function started(child: ChildProcess, cwd: string): Promise<void> {
  return new Promise((resolve, reject) => {
    child.once("spawn", () => resolve());
    child.once("error", (cause) => reject(notStarted(cwd, cause)));
  });
}

function notStarted(cwd: string, cause: unknown): TuttiError {
  const code = errno(cause) ?? String(cause);
  const why = code === "E2BIG" ? "its arguments and environment are too long" : code;
  return new TuttiError("io", `no process could be started in ${cwd}: ${why}`, { cause, retry: "safe" });
}

function lost(): TuttiError {
  return new TuttiError("io", "the process ended before it could be held", { retry: "safe" });
}
