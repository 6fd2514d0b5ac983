// Who does what a command asks for: the daemon of the state, this process, or a daemon that is started for it.
import type { Reader, Tutti } from "../client/client.ts";
import type { Host } from "../host/host.ts";
import { TuttiError } from "../protocol/error.ts";
import type { TaskId } from "../protocol/ids.ts";
import { dim, warn } from "./terminal/output.ts";
import { stateFolder } from "./state-folder.ts";

export interface ConnectOptions {
  readonly state?: string | undefined;
  /** The folder whose project the work belongs to; the current one when absent. */
  readonly from?: string;
  /** Says nothing about a daemon it starts. */
  readonly json?: boolean | undefined;
}

/** The exit status of a command that was left. */
export const interrupted = 130;

/** Looks through the daemon when there is one, else at the folder itself; starts nothing. */
export async function withReader(
  host: Host,
  { state }: ConnectOptions,
  look: (reader: Reader) => Promise<void>,
): Promise<void> {
  const folder = stateFolder(state);
  const reader = (await answering(host, folder)) ?? host.look(folder);
  try {
    await look(reader);
  } finally {
    await reader.close();
  }
}

/** A daemon that hangs, or whose key is gone, is in nobody's way who only looks. */
async function answering(host: Host, folder: string): Promise<Tutti | undefined> {
  try {
    return await host.connect(folder);
  } catch (thrown) {
    if (!(thrown instanceof TuttiError) || !["unreachable", "unauthorized"].includes(thrown.code)) throw thrown;
    warn(`${thrown.message}; what follows is read from ${folder}`);
    return undefined;
  }
}

export interface Connection {
  readonly tutti: Tutti;
  /** What the person waits for: said when they leave before it is over. */
  readonly follows: (task: TaskId) => void;
}

/** Works through the daemon when there is one, else in this process until the work is done or the person leaves. */
export async function withTutti(
  host: Host,
  place: ConnectOptions,
  work: (reached: Connection) => Promise<void>,
): Promise<void> {
  const folder = stateFolder(place.state);
  const { from } = place;
  const tutti = (await host.connect(folder)) ?? (await host.work(folder, from === undefined ? {} : { from }));
  if (tutti.url === undefined) await tellParked(tutti);
  let followed: TaskId | undefined;
  // Ctrl-C cancels nothing, whoever works.
  await untilLeft(
    tutti,
    () =>
      tutti.url === undefined
        ? "stopped; what was under way is kept, run the same command again to go on"
        : `left; the daemon goes on with it, follow it with \`${commandLine(place.state, `logs -f ${followed ?? ""}`)}\``,
    () => work({ tutti, follows: (task) => (followed = task) }),
  );
}

/** What cannot go on is said, once per start. */
async function tellParked(tutti: Tutti): Promise<void> {
  const { parked } = await tutti.status();
  for (const { task, runner } of parked) {
    warn(`${task} is not finished and stays so: this Tutti has no runner ${runner}; a newer one may have made it`);
  }
}

/** Works through a daemon, started when there is none; `check` looks first whether that is worth while. */
export async function withDaemon(
  host: Host,
  place: ConnectOptions & { readonly check?: (reader: Reader) => Promise<unknown> },
  work: (tutti: Tutti) => Promise<void>,
): Promise<void> {
  const folder = stateFolder(place.state);
  const tutti = (await host.connect(folder)) ?? (await started(host, folder, place));
  try {
    await work(tutti);
  } finally {
    await tutti.close();
  }
}

async function started(
  host: Host,
  folder: string,
  { check, from, json, state }: ConnectOptions & { readonly check?: (reader: Reader) => Promise<unknown> },
): Promise<Tutti> {
  if (check !== undefined) {
    const reader = host.look(folder);
    try {
      await check(reader);
    } finally {
      await reader.close();
    }
  }
  const { daemon, existed } = await host.start({ state: folder, from: from ?? process.cwd() });
  if (!existed && json !== true) {
    console.error(dim(`started a daemon at ${daemon.url}; \`${commandLine(state, "down")}\` ends it`));
  }
  const tutti = await host.connect(folder);
  if (tutti !== undefined) return tutti;
  throw new TuttiError("unreachable", `the daemon at ${daemon.url} was up and is gone; ${folder}/daemon.log says why`);
}

/** The line to type: with the folder if this command was given one. */
export function commandLine(state: string | undefined, command: string): string {
  return `tutti ${command.trim()}${state === undefined ? "" : ` --state ${state}`}`;
}

async function untilLeft(tutti: Tutti, said: () => string, work: () => Promise<void>): Promise<void> {
  let closing: Promise<void> | undefined;
  const close = (): Promise<void> => (closing ??= tutti.close());
  let left = false;
  const leave = (): void => {
    left = true;
    process.exitCode = interrupted;
    void close();
  };
  process.once("SIGINT", leave);
  process.once("SIGTERM", leave);
  try {
    await work();
  } catch (thrown) {
    if (!left) throw thrown;
  } finally {
    process.off("SIGINT", leave);
    process.off("SIGTERM", leave);
    // Only now: what the work draws last on a terminal would wipe it out.
    if (left) console.error(`\ntutti: ${said()}`);
    await close();
  }
}
