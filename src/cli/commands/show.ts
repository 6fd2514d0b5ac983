// `tutti show`: shows one task: its tree, what it cost, every event, and the result.
import { emptyTree, foldTree, isSettled } from "../../core/fold-tree.ts";
import type { Host } from "../../host/host.ts";
import { allEvents } from "../all-events.ts";
import { withReader } from "../connect.ts";
import { pauseText } from "../pause-notice.ts";
import { findTask } from "../find-id.ts";
import { eventLine } from "../terminal/event-line.ts";
import { writeLine } from "../terminal/screen.ts";
import { bold, dim } from "../terminal/style.ts";
import { totalsLine } from "../terminal/run-cost.ts";
import { drawTree } from "../terminal/task-tree.ts";
import { resultText } from "../terminal/value-text.ts";

export interface ShowOptions {
  readonly state?: string;
  readonly json?: boolean;
}

export async function showCommand(host: Host, given: string, options: ShowOptions): Promise<void> {
  await withReader(host, options, async (reader) => {
    const task = await findTask(reader, given);
    const events = await Array.fromAsync(allEvents(reader, task));
    if (options.json === true) return writeLine(JSON.stringify({ tree: await reader.tree(task), events }));
    const tree = events.reduce(foldTree, emptyTree(task));
    const now = Date.now();
    await writeLine(drawTree([...tree.tasks.values()], { now }).join("\n"));
    await writeLine(dim(totalsLine(tree, now)));
    if (!isSettled(tree) && (await reader.paused())) await writeLine(pauseText(options.state));
    await writeLine("");
    for (const event of events) await writeLine(eventLine(event));
    const result = tree.tasks.get(task)?.result ?? null;
    if (result !== null) await writeLine(`\n${bold("result")} ${resultText(result, { indent: 2 })}`);
  });
}
