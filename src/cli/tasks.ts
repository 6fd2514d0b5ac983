// `tutti tasks`, `tutti show`, `tutti logs` and `tutti export`: look at tasks without being in anybody's way.
import { setTimeout as sleep } from "node:timers/promises";

import type { Looking, Opener } from "../client/client.ts";
import { isTerminal } from "../protocol/task-status.ts";
import type { TaskId } from "../protocol/ids.ts";
import type { TaskView } from "../protocol/task-view.ts";
import { eventLine } from "./event-line.ts";
import { bold, dim, writeLine } from "./output.ts";
import { printable } from "./printable.ts";
import { runCost } from "./run-cost.ts";
import { stateFolder } from "./state-folder.ts";
import { drawTree, duration, markOf, totalsLine } from "./task-tree.ts";

export interface LookOptions {
  readonly state?: string;
  readonly json?: boolean;
  readonly limit?: number;
  readonly follow?: boolean;
}

const batch = 500;
const pollMs = 200;

export async function tasksCommand(opener: Opener, options: LookOptions): Promise<void> {
  await looking(opener, options, async (state) => {
    const roots = state.roots({ limit: options.limit ?? 20 });
    if (options.json === true) return writeLine(JSON.stringify(roots));
    if (roots.length === 0) return writeLine("no tasks yet; start one with `tutti invoke FILE`");
    const now = Date.now();
    const rows = roots.map((root) => ({
      status: root.status,
      cells: [root.id, printable(root.agent), root.status, agoOf(now - root.created_at), tookOf(root)],
    }));
    const widths = [0, 1, 2, 3].map((column) => Math.max(...rows.map(({ cells }) => (cells[column] ?? "").length)));
    for (const { status, cells } of rows) {
      const [id = "", ...rest] = cells.map((cell, column) => cell.padEnd(widths[column] ?? 0));
      await writeLine(`${markOf(status)} ${bold(id)}  ${rest.join("  ")}`.trimEnd());
    }
    const asks = state.asks();
    if (asks.length > 0) await writeLine("");
    for (const ask of asks) {
      await writeLine(
        `${markOf("input_required")} ${ask.id}  ${ask.kind}: ${printable(ask.question)} ${dim(ask.task)}`,
      );
    }
  });
}

export async function showCommand(opener: Opener, task: TaskId, options: LookOptions): Promise<void> {
  await looking(opener, options, async (state) => {
    const tree = state.tree(task);
    const events = allEvents(state, task);
    if (options.json === true) return writeLine(JSON.stringify({ tree, events }));
    await writeLine(drawTree(tree, { now: Date.now() }).join("\n"));
    await writeLine(dim(totalsLine(tree, runCost(state, task), Date.now())));
    await writeLine("");
    for (const event of events) await writeLine(eventLine(event));
    const result = tree[0]?.result ?? null;
    if (result !== null)
      await writeLine(
        `\n${bold("result")} ${printable(typeof result === "string" ? result : JSON.stringify(result, null, 2))}`,
      );
  });
}

export async function logsCommand(opener: Opener, task: TaskId, options: LookOptions): Promise<void> {
  await looking(opener, options, async (state) => {
    let after = 0;
    for (;;) {
      const over = state.tree(task).every((view) => isTerminal(view.status));
      const events = state.events(task, { after, limit: batch });
      for (const event of events) await writeLine(options.json === true ? JSON.stringify(event) : eventLine(event));
      after = events.at(-1)?.seq ?? after;
      if (events.length === batch) continue;
      if (options.follow !== true || over) return;
      await sleep(pollMs);
    }
  });
}

export async function exportCommand(opener: Opener, task: TaskId, options: LookOptions): Promise<void> {
  await looking(opener, options, async (state) => {
    for (const view of state.tree(task)) await writeLine(JSON.stringify({ record: "task", ...view }));
    let after = 0;
    for (;;) {
      const events = state.events(task, { after, limit: batch });
      for (const event of events) await writeLine(JSON.stringify({ record: "event", ...event }));
      after = events.at(-1)?.seq ?? after;
      if (events.length < batch) return;
    }
  });
}

function allEvents(state: Looking, task: TaskId): ReturnType<Looking["events"]> {
  const all: ReturnType<Looking["events"]> = [];
  for (let after = 0; ;) {
    const events = state.events(task, { after, limit: batch });
    all.push(...events);
    after = events.at(-1)?.seq ?? after;
    if (events.length < batch) return all;
  }
}

function agoOf(ms: number): string {
  return `${duration(ms)} ago`;
}

function tookOf({ created_at, ended_at }: TaskView): string {
  return ended_at === null ? "" : `took ${duration(ended_at - created_at)}`;
}

async function looking(opener: Opener, options: LookOptions, work: (state: Looking) => Promise<void>): Promise<void> {
  const state = opener.look(stateFolder(options.state));
  try {
    await work(state);
  } finally {
    state.close();
  }
}
