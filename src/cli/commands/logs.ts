// `tutti logs`: prints the events of one tree or of everything; with -f, also those that are still to come.
import type { Reader } from "../../client/client.ts";
import type { Host } from "../../host/host.ts";
import { TuttiError } from "../../protocol/error.ts";
import type { TaskId } from "../../protocol/ids.ts";
import type { TaskEvent } from "../../protocol/task/event.ts";
import { isTerminal } from "../../protocol/task/task-status.ts";
import { allEvents } from "../all-events.ts";
import { commandLine, withReader } from "../connect.ts";
import { findTask } from "../find-id.ts";
import { listTasks } from "../list-tasks.ts";
import { stateFolder } from "../state-folder.ts";
import { eventLine } from "../terminal/event-line.ts";
import { note, writeLine } from "../terminal/screen.ts";
import { dim } from "../terminal/style.ts";

export interface LogsOptions {
  readonly state?: string;
  readonly json?: boolean;
  readonly follow?: boolean;
}

export async function logsCommand(host: Host, given: string | undefined, options: LogsOptions): Promise<void> {
  await withReader(host, options, async (reader) => {
    const task = given === undefined ? undefined : await findTask(reader, given);
    const print = (event: TaskEvent): Promise<void> =>
      writeLine(options.json === true ? JSON.stringify(event) : eventLine(event));
    if (options.follow !== true) {
      for await (const event of allEvents(reader, task)) await print(event);
      return;
    }
    if ((await hasUnfinished(reader, task)) && (await isUnattended(host, options))) await startDaemon(host, options);
    for await (const item of reader.follow(task === undefined ? {} : { task })) {
      if ("event" in item) await print(item.event);
    }
  });
}

async function hasUnfinished(reader: Reader, task: TaskId | undefined): Promise<boolean> {
  if (task !== undefined) return (await reader.tree(task)).some(({ status }) => !isTerminal(status));
  for (const status of ["pending", "running", "input_required"] as const) {
    if ((await listTasks(reader, { limit: 1, all: true, status })).length > 0) return true;
  }
  return false;
}

/** No process works on the folder, so following unfinished tasks would wait for ever. */
async function isUnattended(host: Host, { state }: LogsOptions): Promise<boolean> {
  return (await host.findOwner(stateFolder(state))) === undefined;
}

/** The events are still read from the folder; the daemon only has to write them. */
async function startDaemon(host: Host, { state, json }: LogsOptions): Promise<void> {
  try {
    const { daemon, existed } = await host.startDaemon({ state: stateFolder(state), from: process.cwd() });
    if (existed || json === true) return;
    const started = `it was unfinished and no process worked on it: started a daemon at ${daemon.url}`;
    note(dim(`${started}; \`${commandLine(state, "down")}\` ends it`));
  } catch (thrown) {
    // Another process has begun to work on the folder in the meantime.
    if (!(thrown instanceof TuttiError) || thrown.code !== "locked") throw thrown;
  }
}
