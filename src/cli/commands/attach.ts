// `tutti attach`: shows a run live, from its beginning or from its last messages, and puts its questions to the person.
import type { Reader, Tutti } from "../../client/client.ts";
import type { Host } from "../../host/host.ts";
import type { TaskId } from "../../protocol/ids.ts";
import { isTerminal } from "../../protocol/task/task-status.ts";
import { allEvents } from "../all-events.ts";
import { commandLine, interruptedStatus, withDaemon, withReader } from "../connect.ts";
import { findTask } from "../find-id.ts";
import { showFinishedRun, showRun, type ShowRunOptions } from "../show-run.ts";
import { note } from "../terminal/screen.ts";
import { dim } from "../terminal/style.ts";

export interface AttachOptions {
  readonly state?: string;
  /** Only the result is printed, when there is one. */
  readonly json?: boolean;
  /** How many of the last messages are shown; all when absent. */
  readonly last?: number;
}

/** If no process works on the tree and it is not over, a daemon is started that does. */
export async function attachCommand(host: Host, given: string, options: AttachOptions): Promise<void> {
  let run: ShowRunOptions | undefined;
  await withReader(host, options, async (reader) => {
    const { root } = await reader.task(await findTask(reader, given));
    const from = options.last === undefined ? undefined : await seqOfLast(reader, root, options.last);
    const found: ShowRunOptions = { task: root, state: options.state, json: options.json, from };
    const isOver = (await reader.tree(root)).every(({ status }) => isTerminal(status));
    if (isOver) return showFinishedRun(reader, found);
    run = found;
  });
  if (run === undefined) return;
  const unfinished = run;
  await withDaemon(host, options, (tutti) => untilLeft(tutti, unfinished));
}

/** The sequence of the event from which on the tree has so many messages of agents. */
async function seqOfLast(reader: Reader, root: TaskId, count: number): Promise<number> {
  const last: number[] = [];
  for await (const { seq, type, data } of allEvents(reader, root)) {
    if (type !== "message.added" || data.message.role !== "assistant") continue;
    last.push(seq);
    if (last.length > count) last.shift();
  }
  return last[0] ?? 0;
}

/** Ctrl-C closes the connection and nothing else. */
async function untilLeft(tutti: Tutti, run: ShowRunOptions): Promise<void> {
  let left = false;
  const leave = (): void => {
    left = true;
    process.exitCode = interruptedStatus;
    void tutti.close().catch(() => undefined);
  };
  process.once("SIGINT", leave);
  process.once("SIGTERM", leave);
  try {
    await showRun(tutti, run);
  } catch (thrown) {
    if (!left) throw thrown;
  } finally {
    process.off("SIGINT", leave);
    process.off("SIGTERM", leave);
  }
  if (left) note(dim(`\nleft; it goes on, come back with \`${commandLine(run.state, `attach ${run.task}`)}\``));
}
