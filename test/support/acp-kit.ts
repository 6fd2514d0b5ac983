// What tests of sessions share: an engine with the acp runner and the scripted agent, and a look at what the agent did.

import { existsSync, mkdirSync, readdirSync, readFileSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

import { systemClock } from "../../src/engine/clock.ts";
import { Engine } from "../../src/engine/engine.ts";
import { eventView } from "../../src/engine/event-view.ts";
import type { NewTask } from "../../src/ports.ts";
import type { TaskEvent } from "../../src/protocol/task/event.ts";
import type { AgentResult } from "../../src/protocol/invocation/invocation-result.ts";
import { type AcpRunnerOptions, acpRunner } from "../../src/runner/acp/runner.ts";
import { Profiles } from "../../src/runner/acp/profile.ts";
import { cleanUp } from "../../src/runner/shared/process/clean-up.ts";
import { openStore } from "../../src/store/sqlite/sqlite-store.ts";
import { openView } from "../../src/store/sqlite/sqlite-view.ts";
import type { Store } from "../../src/store/store.ts";
import { type Cleanup, tempFolder } from "./temp-folder.ts";

export const agentFile = fileURLToPath(new URL("acp-agent.ts", import.meta.url));

/** How the scripted agent behaves before its first prompt, and what its profile says. */
export interface Scripted {
  readonly behaviour?: Readonly<Record<string, unknown>>;
  readonly profile?: Readonly<Record<string, unknown>>;
}

export function scriptedProfiles(folder: string, { behaviour = {}, profile = {} }: Scripted = {}): Profiles {
  return Profiles.parse({
    scripted: {
      command: [process.execPath, agentFile, folder, JSON.stringify(behaviour)],
      mode: "asking",
      login: "scripted login",
      metered: true,
      ...profile,
    },
  });
}

/** Unconfined sessions start unasked, and every change is asked about. */
const unconfined = { confined: false, reason: "the test says so", advice: "none" } as const;
const rules = { execute: "free", network: "free", write: "ask" } as const;

export interface AcpWorld {
  /** Where the session works, and where the agent writes what it did. */
  readonly work: string;
  /** The state folder. */
  readonly state: string;
  readonly engine: Engine;
  readonly store: Store;
  start(actions: readonly unknown[], more?: Partial<NewTask>): Promise<string>;
  run(actions: readonly unknown[], more?: Partial<NewTask>): Promise<AgentResult>;
  events(): Promise<TaskEvent[]>;
  /** Texts of the messages of the task, as `role: text`. */
  messages(): Promise<string[]>;
  ledger(name: string): unknown[];
}

export interface AcpWorldOptions extends Scripted {
  readonly runner?: Partial<AcpRunnerOptions>;
}

export async function acpWorld(t: Cleanup, options: AcpWorldOptions = {}): Promise<AcpWorld> {
  const folder = realpathSync(tempFolder(t));
  const [work, state] = [join(folder, "work"), join(folder, "state")];
  for (const each of [work, state]) mkdirSync(each);
  const store = openStore(state);
  const runner = acpRunner({
    profiles: scriptedProfiles(work, options),
    approvals: [{ from: "user", rules }],
    sandbox: unconfined,
    offLimits: [state],
    homes: join(folder, "homes"),
    toolchains: [dirname(agentFile), dirname(realpathSync(process.execPath))],
    ...options.runner,
    times: { cancelMs: 500, graceMs: 300, ...options.runner?.times },
  });
  const engine = new Engine({ store, clock: systemClock, runners: { acp: runner }, cleanUp });
  await engine.recover();
  t.after(async () => {
    await engine.stop();
    store.close();
  });
  const events = async (): Promise<TaskEvent[]> => {
    const view = openView(state);
    try {
      const { rows } = await view.eventsAfter({ after: 0, limit: 100_000 });
      return rows.map((event) => eventView(view.salt, event));
    } finally {
      view.close();
    }
  };
  const start = async (actions: readonly unknown[], more: Partial<NewTask> = {}): Promise<string> => {
    const task: NewTask = {
      runner: { kind: "acp", config: { profile: "scripted" } },
      agent: "coder",
      input: JSON.stringify(actions),
      rights: { tools: "*", roots: [work] },
      ...more,
    };
    return (await engine.start(task)).task;
  };
  return {
    work,
    state,
    engine,
    store,
    start,
    run: async (actions, more) => engine.result(await start(actions, more)),
    events,
    messages: async () =>
      (await events()).flatMap((event) => (event.type === "message.added" ? [messageLine(event)] : [])),
    ledger: (name) => ledgerIn(work, name),
  };
}

export function ledgerIn(folder: string, name: string): unknown[] {
  const path = join(folder, name);
  if (!existsSync(path)) return [];
  return readFileSync(path, "utf8")
    .split("\n")
    .flatMap((line) => (line === "" ? [] : [JSON.parse(line)]));
}

function messageLine({ data: { message } }: Extract<TaskEvent, { type: "message.added" }>): string {
  const texts = message.parts.map((part) => {
    if (part.part_type === "text") return part.data;
    if (part.part_type === "tool_call") return `${part.data.tool_name} ${JSON.stringify(part.data.input)}`;
    if (part.part_type === "tool_result") return `${part.data.tool_name} ${JSON.stringify(part.data.parts)}`;
    return part.part_type;
  });
  return `${message.role}: ${texts.join(" | ")}`;
}

/** Pids of processes whose command names the folder. */
export function processesOf(folder: string): number[] {
  return readdirSync("/proc").flatMap((name) => {
    const pid = Number(name);
    if (!Number.isInteger(pid) || pid === process.pid) return [];
    try {
      const command = readFileSync(`/proc/${pid}/cmdline`, "latin1");
      const ended = /^State:\s*Z/m.test(readFileSync(`/proc/${pid}/status`, "latin1"));
      return command.includes(folder) && !ended ? [pid] : [];
    } catch {
      return [];
    }
  });
}
