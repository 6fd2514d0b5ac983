// What the engine's benchmarks share: an engine over real files, and a loop of tool calls and an answer.
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";

import { z } from "zod";

import { systemClock } from "../src/engine/clock.ts";
import { Engine } from "../src/engine/engine.ts";
import type { Durable, NewTask, Runner } from "../src/ports.ts";
import { CompleteMessage } from "../src/protocol/task/message.ts";
import { Usage } from "../src/protocol/task/budget.ts";
import { openStore } from "../src/store/sqlite/sqlite-store.ts";
import type { Store } from "../src/store/store.ts";

const filler = "lorem ipsum dolor sit amet consectetur ".repeat(8);

export const Reply = z.object({ message: CompleteMessage, usage: Usage });
type Reply = z.infer<typeof Reply>;

/** What the model says at a turn: a tool call, or at the last one its answer. */
export function replyAt(turn: number, turns: number): Reply {
  const call = { tool_call_id: `c${turn}`, tool_name: "look", input: { turn } };
  return {
    message: {
      id: `m${turn}`,
      name: null,
      role: "assistant",
      parts: [
        { part_type: "text", data: filler.slice(0, 200) },
        ...(turn < turns ? [{ part_type: "tool_call" as const, data: call }] : []),
      ],
      created_at: 1_700_000_000_000,
    },
    usage: { input_tokens: 100, output_tokens: 20, money_micro_usd: 10 },
  };
}

export const ToolOutcome = z.object({ ok: z.boolean(), text: z.string() });
export const toolOutcome = { ok: true, text: filler };

/** Asks the model, whose calls are repeatable, and carries out its tool calls, which are not. `modelMs`: until the model answers. */
export async function callTools(durable: Durable, turns: number, modelMs = 0): Promise<string> {
  for (let turn = 0; ; turn += 1) {
    durable.save(`state:${turn}`, { turn });
    const reply = await durable.step(
      `model:${turn}`,
      {
        repeatable: true,
        schema: Reply,
        event: "message.added",
        reserve: { input_tokens: 100, output_tokens: 100, money_micro_usd: 20 },
        spent: (outcome) => outcome.usage,
      },
      async () => {
        if (modelMs > 0) await pause(modelMs);
        return replyAt(turn, turns);
      },
    );
    const call = reply.message.parts.find((part) => part.part_type === "tool_call");
    if (call === undefined) return "done";
    await durable.step(
      `tool:${turn}.0`,
      { repeatable: false, schema: ToolOutcome, input: call.data.input },
      async () => toolOutcome,
    );
  }
}

/** Limits no benchmark is about. */
const wide = { tasks: 1_000_000, tokens: 1e12, money_micro_usd: 1e12 };

/** `concurrency` counts for a root; its children share it. */
export function newTask(agent: string, concurrency = 64): NewTask {
  return {
    runner: { kind: "loop", config: {} },
    agent,
    input: null,
    rights: { tools: "*", roots: [] },
    budget: { ...wide, concurrency },
  };
}

/** Children draw on their parent's account. */
export function newChildren(count: number, agent: string): NewTask[] {
  const { budget: _, ...child } = newTask(agent);
  return Array.from({ length: count }, () => child);
}

export interface Bench {
  readonly engine: Engine;
  /** Runs a task to its end, which must be a good one. */
  readonly complete: (task: NewTask) => Promise<void>;
  readonly close: () => Promise<void>;
}

/** Loops by the name of the agent. */
export type BenchLoops = Readonly<Record<string, (durable: Durable) => Promise<unknown>>>;

export function engineOver(store: Store, loops: BenchLoops): Engine {
  const loop: Runner = (durable) => {
    const found = loops[durable.agent];
    if (found === undefined) throw new Error(`no loop for ${durable.agent}`);
    return found(durable);
  };
  return new Engine({ store, clock: systemClock, runners: { loop }, slots: 100_000 });
}

export async function completeIn(engine: Engine, task: NewTask): Promise<void> {
  const result = await engine.result((await engine.start(task)).task);
  if (result.status !== "completed") throw new Error(JSON.stringify(result));
}

export function openBench(folder: string, loops: BenchLoops): Bench {
  const store = openStore(folder);
  const engine = engineOver(store, loops);
  return {
    engine,
    complete: (task) => completeIn(engine, task),
    async close() {
      await engine.stop();
      store.close();
    },
  };
}

/** Spawns the children and joins them; all have to end well. */
export async function spawnAndJoin(durable: Durable, children: readonly NewTask[]): Promise<string> {
  const results = await durable.join(await durable.spawn("children", children));
  const bad = results.find((result) => result.status !== "completed");
  if (bad !== undefined || results.length !== children.length) throw new Error(JSON.stringify(bad ?? results.length));
  return "done";
}

export async function inLanes(total: number, atOnce: number, work: () => Promise<void>): Promise<void> {
  let left = total;
  const lane = async (): Promise<void> => {
    while ((left -= 1) >= 0) await work();
  };
  await Promise.all(Array.from({ length: atOnce }, lane));
}

export async function inFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), "tutti-bench-"));
  try {
    return await work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Runs a script in a process of its own and returns the last line it prints, read as JSON. */
export function ownProcess(script: string, args: readonly string[]): unknown {
  const child = spawnSync(process.execPath, ["--expose-gc", script, ...args], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
  });
  if (child.status !== 0) throw new Error(`${script} ${args.join(" ")} ended with ${child.status ?? child.signal}`);
  return JSON.parse(child.stdout.trimEnd().split("\n").at(-1) ?? "null");
}
