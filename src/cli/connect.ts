// Decides who does the work of a command: a running daemon, a daemon that is started for it, or this process.
import type { Reader, Tutti } from "../client/client.ts";
import type { Host, LocalWork, RunningDaemon } from "../host/host.ts";
import { argvLine } from "../protocol/argv-line.ts";
import { TuttiError } from "../protocol/error.ts";
import type { TaskId } from "../protocol/ids.ts";
import { targetFlags } from "./remote/declare-target.ts";
import { stateFolder } from "./state-folder.ts";
import { warn } from "./terminal/output.ts";
import { note } from "./terminal/screen.ts";
import { dim } from "./terminal/style.ts";

export interface ConnectOptions {
  /** `--state` as it was given. */
  readonly state?: string | undefined;
  /** With JSON output, nothing is printed about a daemon that is started. */
  readonly json?: boolean | undefined;
}

/** The exit status of a command that was ended by Ctrl-C or a signal. */
export const interruptedStatus = 130;

/** Reads through the daemon if there is one, otherwise from the folder. Starts nothing. */
export async function withReader(
  host: Host,
  { state }: ConnectOptions,
  read: (reader: Reader) => Promise<void>,
): Promise<void> {
  const folder = stateFolder(state);
  const reader = (await connectIfPossible(host, folder)) ?? host.openReader(folder);
  try {
    await read(reader);
  } finally {
    await reader.close();
  }
}

/** A daemon that hangs, or whose key file is gone, does not keep anybody from reading the folder. */
async function connectIfPossible(host: Host, folder: string): Promise<Tutti | undefined> {
  try {
    return await host.connect(folder);
  } catch (thrown) {
    if (
      host.remote !== undefined ||
      !(thrown instanceof TuttiError) ||
      !["unreachable", "unauthorized"].includes(thrown.code)
    )
      throw thrown;
    warn(`${thrown.message}; what follows is read from ${folder}`);
    return undefined;
  }
}

export interface WorkOptions extends ConnectOptions {
  /** The command starts another run of the same text, so nothing would find the one that it started: it must not try twice. */
  readonly new?: boolean | undefined;
}

export interface Connection {
  readonly tutti: Tutti;
  /** This process does the work itself. */
  readonly isLocal: boolean;
  /** Names the task of this command, so that a person who leaves is told how to follow it. */
  readonly setTask: (task: TaskId) => void;
}

/**
 * Works through the process that works on the folder if there is one, otherwise in this one, which then serves the
 * others; until the work is done or the person leaves. If that process ends before it has told the task, the work begins
 * again with the next one: the same text finds a task that was started already.
 */
export async function withTutti(
  host: Host,
  options: WorkOptions,
  work: (connection: Connection) => Promise<void>,
): Promise<void> {
  const session = await openSession(host, stateFolder(options.state));
  const { tutti, isLocal } = session;
  if (isLocal) await warnOfParked(tutti);
  let task: TaskId | undefined;
  try {
    await untilInterrupted(session, options, {
      work: () => work({ tutti, isLocal, setTask: (started) => (task = started) }),
      task: () => task,
    });
  } catch (thrown) {
    const isGone = thrown instanceof TuttiError && thrown.code === "unreachable";
    if (!isGone || isLocal || task !== undefined || host.remote !== undefined || options.new === true) throw thrown;
    // A command that serves others ends when its own work is done, which can be this moment.
    await withTutti(host, { ...options, new: true }, work);
  }
}

interface Session extends LocalWork {
  readonly isLocal: boolean;
}

/** How long a process that has just taken the folder may take until it answers or ends. */
const answersWithinMs = 10_000;
const askEveryMs = 50;

/** A folder that another command has just taken is served by it as soon as it answers, or free as soon as it ends. */
async function openSession(host: Host, folder: string, waited = 0): Promise<Session> {
  const tutti = await host.connect(folder);
  if (tutti !== undefined) return remote(tutti);
  try {
    return { ...(await host.openLocal(folder)), isLocal: true };
  } catch (thrown) {
    if (!(thrown instanceof TuttiError) || thrown.code !== "locked" || waited >= answersWithinMs) throw thrown;
  }
  await new Promise((resolve) => setTimeout(resolve, askEveryMs));
  return openSession(host, folder, waited + askEveryMs);
}

function remote(tutti: Tutti): Session {
  const close = async (): Promise<undefined> => {
    await tutti.close();
    return undefined;
  };
  return { tutti, isLocal: false, stopAsked: new Promise(() => undefined), close };
}

async function warnOfParked(tutti: Tutti): Promise<void> {
  const { parked } = await tutti.status();
  for (const { task, runner, reason } of parked) {
    const why = reason ?? `this Tutti has no runner ${runner}; a newer one may have started it`;
    warn(`${task} is unfinished and cannot go on: ${why}`);
  }
}

export interface DaemonOptions extends ConnectOptions {
  /** Looks at the state before a daemon is started, and throws when starting one would be useless. */
  readonly check?: (reader: Reader) => Promise<unknown>;
}

/** Works through the daemon, and starts one if there is none. */
export async function withDaemon(
  host: Host,
  options: DaemonOptions,
  work: (tutti: Tutti) => Promise<void>,
): Promise<void> {
  const folder = stateFolder(options.state);
  const tutti = (await host.connect(folder)) ?? (await connectToNew(host, folder, options));
  try {
    await work(tutti);
  } finally {
    await tutti.close();
  }
}

async function connectToNew(host: Host, folder: string, { check, json, state }: DaemonOptions): Promise<Tutti> {
  if (check !== undefined) {
    const reader = host.openReader(folder);
    try {
      await check(reader);
    } finally {
      await reader.close();
    }
  }
  const { daemon, existed } = await host.startDaemon({ state: folder, from: process.cwd() });
  if (!existed && json !== true) {
    note(dim(`started a daemon at ${daemon.url}; \`${commandLine(state, "down")}\` ends it`));
  }
  const tutti = await host.connect(folder);
  if (tutti !== undefined) return tutti;
  throw new TuttiError("unreachable", `the daemon at ${daemon.url} has ended; ${folder}/daemon.log says why`);
}

/** A command for the person to type, with the same `--state`, `--url` or `--context` as this one. */
export function commandLine(state: string | undefined, command: string): string {
  return `tutti ${command.trim()}${state === undefined ? "" : ` ${argvLine(["--state", state])}`}${targetFlags(process.argv)}`;
}

interface Interruptible {
  readonly work: () => Promise<void>;
  /** The task of the command, once it has one. */
  readonly task: () => TaskId | undefined;
}

/** Ctrl-C, a termination signal and `tutti down` close the connection, which ends the work. No task is canceled by it. */
async function untilInterrupted(
  session: Session,
  options: ConnectOptions,
  { work, task }: Interruptible,
): Promise<void> {
  let interrupted = false;
  const interrupt = (): void => {
    interrupted = true;
    process.exitCode = interruptedStatus;
    // A failure to close is thrown where it is awaited.
    void session.close().catch(() => undefined);
  };
  process.once("SIGINT", interrupt);
  process.once("SIGTERM", interrupt);
  let gone: TuttiError | undefined;
  void session.stopAsked.then((error) => {
    gone = error;
    interrupt();
  });
  let successor: RunningDaemon | undefined;
  try {
    await work();
  } catch (thrown) {
    if (!interrupted) throw thrown;
  } finally {
    process.off("SIGINT", interrupt);
    process.off("SIGTERM", interrupt);
    successor = await session.close();
  }
  if (gone !== undefined) throw gone;
  // After the work: the last thing it draws on a terminal would overwrite this line.
  if (interrupted)
    note(`\ntutti: ${farewell(session, successor, commandLine(options.state, `attach ${task() ?? "last"}`))}`);
  else if (successor !== undefined && options.json !== true) {
    note(dim(`a daemon at ${successor.url} goes on with what other commands gave to this one`));
  }
}

function farewell({ isLocal }: Session, successor: RunningDaemon | undefined, follow: string): string {
  if (isLocal && successor === undefined) {
    return "stopped; what was under way is kept, run the same command again to go on";
  }
  const daemon = successor === undefined ? "daemon" : `daemon at ${successor.url}`;
  return `left; the ${daemon} goes on with it, follow it with \`${follow}\``;
}
