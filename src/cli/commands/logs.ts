// `tutti logs`: prints the events of one tree or of everything; with -f, also those to come and what programs print.
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
import { parseAge } from "../parse-age.ts";
import { stateFolder } from "../state-folder.ts";
import { eventLine, outputLine } from "../terminal/event-line.ts";
import { type OutputLine, outputLines } from "../terminal/output-lines.ts";
import { note, writeJson, writeLine } from "../terminal/screen.ts";
import { dim } from "../terminal/style.ts";

export interface LogsOptions {
  readonly state?: string;
  readonly json?: boolean;
  readonly follow?: boolean;
  /** Only the last so many of the recorded events. */
  readonly lines?: number;
  /** Only events that are at most this old. */
  readonly since?: string;
}

export async function logsCommand(host: Host, given: string | undefined, options: LogsOptions): Promise<void> {
  const since = options.since === undefined ? 0 : Date.now() - parseAge(options.since);
  await withReader(host, options, async (reader) => {
    const task = given === undefined ? undefined : await findTask(reader, given);
    const print = (event: TaskEvent): Promise<void> =>
      options.json === true ? writeJson(event) : writeLine(eventLine(event));
    const after = await printRecorded(allEvents(reader, task), { print, since, lines: options.lines ?? Infinity });
    if (options.follow !== true) return;
    if ((await hasUnfinished(reader, task)) && (await isUnattended(host, options))) await startDaemon(host, options);
    const output = outputLines();
    const printOutput = async (lines: readonly OutputLine[]): Promise<void> => {
      for (const line of lines) await writeLine(outputLine(line));
    };
    const live = options.json !== true;
    for await (const item of reader.follow({ ...(task === undefined ? {} : { task }), after, live })) {
      if ("live" in item) await printOutput(output.take(item.live));
      else {
        await printOutput(output.end(item.event));
        await print(item.event);
      }
    }
  });
}

interface Wanted {
  readonly print: (event: TaskEvent) => Promise<void>;
  readonly since: number;
  readonly lines: number;
}

/** Returns the sequence of the last event that was read. */
async function printRecorded(events: AsyncIterable<TaskEvent>, { print, since, lines }: Wanted): Promise<number> {
  const last: TaskEvent[] = [];
  let seq = 0;
  for await (const event of events) {
    ({ seq } = event);
    if (event.at < since) continue;
    if (lines === Infinity) await print(event);
    else if (last.push(event) > lines) last.shift();
  }
  for (const event of last) await print(event);
  return seq;
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
