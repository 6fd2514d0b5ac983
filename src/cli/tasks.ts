// `tutti tasks`, `tutti show`, `tutti logs` and `tutti export`: look at tasks without being in anybody's way.
import { setTimeout as sleep } from "node:timers/promises";

import type { Looking, Opener } from "../client/client.ts";
import { isTerminal } from "../protocol/task-status.ts";
import type { TaskId } from "../protocol/ids.ts";
import { eventLine } from "./event-line.ts";
import { bold, dim, writeLine } from "./output.ts";
import { stateFolder } from "./state-folder.ts";
import { drawTree, duration, markOf, money } from "./task-tree.ts";

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
    for (const root of roots) {
      const ago = duration(now - root.created_at);
      const took = root.ended_at === null ? "" : `, took ${duration(root.ended_at - root.created_at)}`;
      await writeLine(
        `${markOf(root.status)} ${bold(root.id)} ${root.agent} ${root.status} ${dim(`${ago} ago${took}`)}`,
      );
    }
    const asks = state.asks();
    for (const ask of asks)
      await writeLine(`${markOf("input_required")} ${ask.id} ${ask.kind}: ${ask.question} ${dim(ask.task)}`);
  });
}

export async function showCommand(opener: Opener, task: TaskId, options: LookOptions): Promise<void> {
  await looking(opener, options, async (state) => {
    const tree = state.tree(task);
    const events = allEvents(state, task);
    if (options.json === true) return writeLine(JSON.stringify({ tree, events }));
    const used = tree.reduce(
      (sum, view) => ({ tokens: sum.tokens + view.tokens, money: sum.money + view.money_micro_usd }),
      { tokens: 0, money: 0 },
    );
    await writeLine(drawTree(tree, { now: Date.now() }).join("\n"));
    await writeLine(dim(`${tree.length} tasks, ${used.tokens} tokens, ${money(used.money)}`));
    await writeLine("");
    for (const event of events) await writeLine(eventLine(event));
    const result = tree[0]?.result ?? null;
    if (result !== null)
      await writeLine(`\n${bold("result")} ${typeof result === "string" ? result : JSON.stringify(result, null, 2)}`);
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

async function looking(opener: Opener, options: LookOptions, work: (state: Looking) => Promise<void>): Promise<void> {
  const state = opener.look(stateFolder(options.state));
  try {
    await work(state);
  } finally {
    state.close();
  }
}
