// `tutti logs`: what happened, of one tree or of all; with -f, what happens.
import type { Looking, Opener } from "../client/client.ts";
import { TuttiError } from "../protocol/error.ts";
import type { TaskEvent } from "../protocol/event.ts";
import type { TaskId } from "../protocol/ids.ts";
import { isTerminal } from "../protocol/task-status.ts";
import { allEvents } from "./all-events.ts";
import { eventLine } from "./event-line.ts";
import { dim, writeLine } from "./output.ts";
import { commandOn, lookAt } from "./reach.ts";
import { stateFolder } from "./state-folder.ts";
import { listed } from "./tasks.ts";

export interface LogsOptions {
  readonly state?: string;
  readonly json?: boolean;
  readonly follow?: boolean;
}

export async function logsCommand(opener: Opener, task: TaskId | undefined, options: LogsOptions): Promise<void> {
  await lookAt(opener, options, async (looking) => {
    const print = (event: TaskEvent): Promise<void> =>
      writeLine(options.json === true ? JSON.stringify(event) : eventLine(event));
    if (options.follow !== true) {
      if (task !== undefined) await looking.task(task);
      for await (const event of allEvents(looking, task)) await print(event);
      return;
    }
    if (await isLeft(opener, looking, { task, state: options.state })) await takeUp(opener, options);
    for await (const said of looking.follow(task === undefined ? {} : { task })) {
      if ("event" in said) await print(said.event);
    }
  });
}

/** Nobody works on it, and there is something to be done: following it would wait for ever. */
async function isLeft(
  opener: Opener,
  looking: Looking,
  { task, state }: { readonly task: TaskId | undefined; readonly state: string | undefined },
): Promise<boolean> {
  const open =
    task === undefined
      ? await unfinished(looking)
      : (await looking.tree(task)).some(({ status }) => !isTerminal(status));
  return open && (await opener.worker(stateFolder(state))) === undefined;
}

async function unfinished(looking: Looking): Promise<boolean> {
  for (const status of ["pending", "running", "input_required"] as const) {
    if ((await listed(looking, { limit: 1, below: true, status })).length > 0) return true;
  }
  return false;
}

/** What is followed is read from the same state, whoever writes it. */
async function takeUp(opener: Opener, { state, json }: LogsOptions): Promise<void> {
  try {
    const { daemon, existed } = await opener.start({ state: stateFolder(state), from: process.cwd() });
    if (existed || json === true) return;
    const said = `it was not finished and nobody worked on it: started a daemon at ${daemon.url}`;
    console.error(dim(`${said}; \`${commandOn(state, "down")}\` ends it`));
  } catch (thrown) {
    // Somebody took it up in this very moment.
    if (!(thrown instanceof TuttiError) || thrown.code !== "locked") throw thrown;
  }
}
