// `tutti show` and `tutti transcript`: a readable account of one task, and its conversation alone.
import { emptyTree, foldTree, isSettled } from "../../core/fold-tree.ts";
import type { Host } from "../../host/host.ts";
import { allEvents } from "../all-events.ts";
import { commandLine, withReader } from "../connect.ts";
import { findTask } from "../find-id.ts";
import { pauseText } from "../pause-notice.ts";
import { accountOf, conversationOf } from "../terminal/task-account.ts";
import { standardOutput, writeLine } from "../terminal/screen.ts";

export interface ShowOptions {
  readonly state?: string;
  readonly json?: boolean;
  readonly full?: boolean;
}

/** Of an argument or a result of a tool, unless all of it is wanted. */
const usualLines = 40;

export async function showCommand(host: Host, given: string, options: ShowOptions): Promise<void> {
  await withReader(host, options, async (reader) => {
    const task = await findTask(reader, given);
    const events = await Array.fromAsync(allEvents(reader, task));
    if (options.json === true) return writeLine(JSON.stringify({ tree: await reader.tree(task), events }));
    const command = (words: string): string => commandLine(options.state, words);
    await writeLine(accountOf(task, events, { ...viewOf(options), now: Date.now(), command }));
    const unfinished = !isSettled(events.reduce(foldTree, emptyTree(task)));
    if (unfinished && (await reader.paused())) await writeLine(pauseText(options.state));
  });
}

export async function transcriptCommand(host: Host, given: string, options: ShowOptions): Promise<void> {
  await withReader(host, options, async (reader) => {
    const task = await findTask(reader, given);
    const events = await Array.fromAsync(allEvents(reader, task));
    if (options.json === true) {
      for (const event of events) if (event.type === "message.added") await writeLine(JSON.stringify(event));
      return;
    }
    await writeLine(conversationOf(task, events, { ...viewOf(options), whole: "all" }).text);
  });
}

function viewOf({ full }: ShowOptions): { readonly width: number; readonly maxLines: number } {
  const width = standardOutput.isTerminal ? standardOutput.columns : Infinity;
  return { width, maxLines: full === true ? Infinity : usualLines };
}
