// `tutti tasks`, `tutti show`, `tutti logs` and `tutti export`: look at tasks without being in anybody's way.
import { setTimeout as sleep } from "node:timers/promises";

import type { Looking, Opener } from "../client/client.ts";
import { isTerminal } from "../protocol/task-status.ts";
import type { TaskId } from "../protocol/ids.ts";
import type { RootView } from "../protocol/task-view.ts";
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
    const open = openLines(state);
    if (open.length > 0) await writeLine(["", ...open].join("\n"));
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

function tookOf({ created_at, ended_at, open }: RootView): string {
  if (ended_at === null) return "";
  return `took ${duration(ended_at - created_at)}${open === 0 ? "" : `, ${open} still to be done`}`;
}

/** The questions, and the calls whose results are waited for. */
function openLines(state: Looking): string[] {
  const asks = state.asks().map(({ id, task, kind, question }) => ({ id, task, text: `${kind}: ${question}` }));
  const waits = state.waits().map(({ id, task, label, call }) => {
    const text = call === undefined ? label : `external tool: ${call.tool_name} ${JSON.stringify(call.input)}`;
    return { id, task, text };
  });
  return [...asks, ...waits].map(
    ({ id, task, text }) =>
      `${markOf("input_required")} ${id}  ${printable(text).replaceAll(/\s+/g, " ")} ${dim(task)}`,
  );
}

async function looking(opener: Opener, options: LookOptions, work: (state: Looking) => Promise<void>): Promise<void> {
  const state = opener.look(stateFolder(options.state));
  try {
    await work(state);
  } finally {
    state.close();
  }
}
