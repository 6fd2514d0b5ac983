// `tutti show`: a readable account of one task.
import { emptyTree, foldTree, isSettled } from "../../core/fold-tree.ts";
import { goalOfTask } from "../../core/goal-id.ts";
import type { Host } from "../../host/host.ts";
import { allEvents } from "../all-events.ts";
import { commandLine, withReader } from "../connect.ts";
import { findTask } from "../find-id.ts";
import { pauseText } from "../pause-notice.ts";
import { accountOf, outputView } from "../terminal/task-account.ts";
import { writeJson, writeLine, writeUnbroken } from "../terminal/screen.ts";
import { asTyped } from "../terminal/typed-command.ts";

export interface ShowOptions {
  readonly state?: string;
  readonly json?: boolean;
  readonly full?: boolean;
}

export async function showCommand(host: Host, given: string, options: ShowOptions): Promise<void> {
  await withReader(host, options, async (reader) => {
    const task = await findTask(reader, given);
    const events = await Array.fromAsync(allEvents(reader, task));
    if (options.json === true) return writeJson({ tree: await reader.tree(task), events });
    const { runner } = await reader.task(task);
    const goal = runner === "manager" ? await reader.goalReport(goalOfTask(task)) : undefined;
    const command = (words: string): string => commandLine(options.state, words);
    const shown = accountOf(task, events, { ...outputView(options), now: Date.now(), command, goal });
    await writeUnbroken(asTyped(shown));
    const unfinished = !isSettled(events.reduce(foldTree, emptyTree(task)));
    if (unfinished && (await reader.paused())) await writeLine(pauseText(options.state));
  });
}
