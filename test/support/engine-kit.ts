// What tests of the engine share: an engine over a real store, loops given as functions, and a restart after a kill.

import { z } from "zod";

import { Engine } from "../../src/engine/engine.ts";
import type { EngineOptions } from "../../src/engine/engine-options.ts";
import { type FakeClock, fakeClock } from "../../src/engine/fake-clock.ts";
import { askName } from "../../src/store/names.ts";
import type { Answerer } from "../../src/protocol/task/ask.ts";
import type { Clock, Durable, NewTask } from "../../src/ports.ts";
import { openForReading } from "../../src/store/sqlite/database.ts";
import type { Store, StoredEvent } from "../../src/store/store.ts";
import { reopenAfterKill } from "./kill-process.ts";
import { watchCommits } from "./settle.ts";
import { fencedAfterKill, openStoreIn } from "./stores.ts";
import type { Cleanup } from "./temp-folder.ts";

export type Loop = (durable: Durable) => Promise<unknown>;
/** By the name of the agent. */
export type Loops = Readonly<Record<string, Loop>>;

export interface World<C extends Clock = FakeClock> {
  readonly folder: string;
  readonly store: Store;
  readonly engine: Engine;
  readonly clock: C;
  stop(): Promise<void>;
}

export const text = z.string();
export const anything = z.unknown();
/** Options of a step that may run again and gives a text. */
export const again = { repeatable: true, schema: text } as const;
/** The body of a step that is cut off before it ends. */
export const never = new Promise<never>(() => undefined);
export const person: Answerer = { kind: "person", name: "Ada" };
export const ask = { kind: "question", question: "which?" } as const;
export const answer = (value: string) => ({ kind: "question" as const, value });

export function task(agent: string, more: Partial<NewTask> = {}): NewTask {
  return { runner: { kind: "loop", config: {} }, agent, input: null, rights: { tools: "*", roots: [] }, ...more };
}

export function world(
  folder: string,
  loops: Loops,
  options: Partial<Omit<EngineOptions, "clock">> & { readonly clock?: FakeClock } = {},
): World {
  const clock = options.clock ?? fakeClock();
  return { ...worldAt(folder, loops, { ...options, clock }), clock };
}

export function worldAt(
  folder: string,
  loops: Loops,
  options: Partial<EngineOptions> & { readonly clock: Clock },
): World<Clock> {
  const store = openStoreIn(folder);
  watchCommits(store);
  const loop = (durable: Durable): Promise<unknown> => {
    const found = loops[durable.agent];
    if (found === undefined) throw new Error(`no loop for ${durable.agent}`);
    return found(durable);
  };
  const engine = new Engine({ store, runners: { loop }, ...options });
  const stop = async (): Promise<void> => {
    try {
      await engine.stop();
    } finally {
      store.close();
    }
  };
  return { folder, store, engine, clock: options.clock, stop };
}

/** As another process would see it: committed rows only. */
export function seen(folder: string, sql: string): Record<string, unknown>[] {
  const { database, close } = openForReading(folder);
  try {
    return database.prepare(sql).all();
  } finally {
    close();
  }
}

export function events(store: Store): StoredEvent[] {
  return store.eventsAfter(0, 1_000_000);
}

export const terminalTypes: readonly string[] = ["task.completed", "task.failed", "task.canceled"];

/** Ids of open asks and waits, oldest first. */
export function openWaits({ folder, store }: World): string[] {
  const open = seen(folder, "SELECT id FROM waits WHERE id NOT IN (SELECT wait FROM answers) ORDER BY id");
  return open.map((row) => askName(store.salt, Number(row["id"])));
}

/** Kills the world where it stands and starts another on what is left, at the same time on the clock. */
export async function killed(
  before: World,
  t: Cleanup,
  loops: Loops,
  { launch = true, ...options }: Partial<Omit<EngineOptions, "clock">> & { readonly launch?: boolean } = {},
): Promise<World> {
  return reopenAfterKill(t, before, async (folder) => {
    const after = world(folder, loops, { ...options, clock: before.clock });
    t.after(() => fencedAfterKill(after.stop()));
    await after.engine.recover({ launch });
    return after;
  });
}

/** A promise that can be settled from outside: something a step waits on. */
export function gate<T = void>(): { readonly opened: Promise<T>; readonly open: (value: T) => void } {
  const { promise, resolve } = Promise.withResolvers<T>();
  return { opened: promise, open: resolve };
}

/** Starts one tree and returns its name. */
export async function started(world: World, agent: string, more: Partial<NewTask> = {}): Promise<string> {
  return (await world.engine.start(task(agent, more))).task;
}

/** The code a promise is rejected with. */
export async function codeOf(promise: Promise<unknown>): Promise<string> {
  return promise.then(
    () => "no error",
    (thrown: unknown) => (thrown instanceof Error && "code" in thrown ? String(thrown.code) : String(thrown)),
  );
}
