// `tutti show`: one task whole: its tree, what happened, what it cost, its result.
import type { Host } from "../../host/host.ts";
import type { TaskId } from "../../protocol/ids.ts";
import { allEvents } from "../all-events.ts";
import { eventLine } from "../terminal/event-line.ts";
import { bold, dim, writeLine } from "../terminal/output.ts";
import { printable } from "../terminal/printable.ts";
import { withReader } from "../connect.ts";
import { type CostNotes, noteCost, runCost } from "../terminal/run-cost.ts";
import { drawTree, totalsLine } from "../terminal/task-tree.ts";

export interface ShowOptions {
  readonly state?: string;
  readonly json?: boolean;
}

export async function showCommand(host: Host, task: TaskId, options: ShowOptions): Promise<void> {
  await withReader(host, options, async (reader) => {
    const tree = await reader.tree(task);
    const events = await Array.fromAsync(allEvents(reader, task));
    if (options.json === true) return writeLine(JSON.stringify({ tree, events }));
    const notes: CostNotes = { unpriced: false, rehearsal: false };
    for (const event of events) noteCost(notes, event);
    await writeLine(drawTree(tree, { now: Date.now() }).join("\n"));
    await writeLine(dim(totalsLine(tree, runCost(tree, notes), Date.now())));
    await writeLine("");
    for (const event of events) await writeLine(eventLine(event));
    const result = tree[0]?.result ?? null;
    if (result === null) return;
    const text = typeof result === "string" ? result : JSON.stringify(result, null, 2);
    await writeLine(`\n${bold("result")} ${printable(text)}`);
  });
}
