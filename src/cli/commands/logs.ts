// `tutti logs`: what happened, of one tree or of all; with -f, what happens.
import type { Reader } from "../../client/client.ts";
import type { Host } from "../../host/host.ts";
import { TuttiError } from "../../protocol/error.ts";
import type { TaskEvent } from "../../protocol/task/event.ts";
import type { TaskId } from "../../protocol/ids.ts";
import { isTerminal } from "../../protocol/task/task-status.ts";
import { allEvents } from "../all-events.ts";
import { eventLine } from "../terminal/event-line.ts";
import { dim, writeLine } from "../terminal/output.ts";
import { commandLine, withReader } from "../connect.ts";
import { stateFolder } from "../state-folder.ts";
import { listed } from "./tasks.ts";

export interface LogsOptions {
  readonly state?: string;
  readonly json?: boolean;
  readonly follow?: boolean;
}

export async function logsCommand(host: Host, task: TaskId | undefined, options: LogsOptions): Promise<void> {
  await withReader(host, options, async (reader) => {
    const print = (event: TaskEvent): Promise<void> =>
      writeLine(options.json === true ? JSON.stringify(event) : eventLine(event));
    if (options.follow !== true) {
      if (task !== undefined) await reader.task(task);
      for await (const event of allEvents(reader, task)) await print(event);
      return;
    }
    if (await isLeft(host, reader, { task, state: options.state })) await takeUp(host, options);
    for await (const said of reader.follow(task === undefined ? {} : { task })) {
      if ("event" in said) await print(said.event);
    }
  });
}

/** Nobody works on it, and there is something to be done: following it would wait for ever. */
async function isLeft(
  host: Host,
  reader: Reader,
  { task, state }: { readonly task: TaskId | undefined; readonly state: string | undefined },
): Promise<boolean> {
  const open =
    task === undefined ? await unfinished(reader) : (await reader.tree(task)).some(({ status }) => !isTerminal(status));
  return open && (await host.worker(stateFolder(state))) === undefined;
}

async function unfinished(reader: Reader): Promise<boolean> {
  for (const status of ["pending", "running", "input_required"] as const) {
    if ((await listed(reader, { limit: 1, below: true, status })).length > 0) return true;
  }
  return false;
}

/** What is followed is read from the same state, whoever writes it. */
async function takeUp(host: Host, { state, json }: LogsOptions): Promise<void> {
  try {
    const { daemon, existed } = await host.start({ state: stateFolder(state), from: process.cwd() });
    if (existed || json === true) return;
    const said = `it was not finished and nobody worked on it: started a daemon at ${daemon.url}`;
    console.error(dim(`${said}; \`${commandLine(state, "down")}\` ends it`));
  } catch (thrown) {
    // Somebody took it up in this very moment.
    if (!(thrown instanceof TuttiError) || thrown.code !== "locked") throw thrown;
  }
}
