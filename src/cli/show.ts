// `tutti show`: one task whole: its tree, what happened, what it cost, its result.
import type { Opener } from "../client/client.ts";
import type { TaskId } from "../protocol/ids.ts";
import { allEvents } from "./all-events.ts";
import { eventLine } from "./event-line.ts";
import { bold, dim, writeLine } from "./output.ts";
import { printable } from "./printable.ts";
import { lookAt } from "./reach.ts";
import { type CostNotes, noteCost, runCost } from "./run-cost.ts";
import { drawTree, totalsLine } from "./task-tree.ts";

export interface ShowOptions {
  readonly state?: string;
  readonly json?: boolean;
}

export async function showCommand(opener: Opener, task: TaskId, options: ShowOptions): Promise<void> {
  await lookAt(opener, options, async (looking) => {
    const tree = await looking.tree(task);
    const events = await Array.fromAsync(allEvents(looking, task));
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
