// What tests of agents share: a real engine on a state folder, with the rehearsal as its model.

import type { TestContext } from "node:test";

import type { AgentEnvironment } from "../../src/agent/agent-environment.ts";
import { systemClock } from "../../src/engine/clock.ts";
import { Engine } from "../../src/engine/engine.ts";
import { messageIn } from "../../src/engine/recorded-message.ts";
import { rehearsalModel } from "../../src/model/rehearsal/rehearsal-model.ts";
import type { Clock, NewTask, Runner } from "../../src/ports.ts";
import type { Model } from "../../src/model-port.ts";
import { type InvocationFile, readInvocationFile } from "../../src/protocol/invocation/invocation-file.ts";
import type { InvocationResult, AgentResult } from "../../src/protocol/invocation/invocation-result.ts";
import type { TaskId } from "../../src/protocol/ids.ts";
import type { LiveDelta } from "../../src/protocol/task/event.ts";
import type { CompleteMessage } from "../../src/protocol/task/message.ts";
import { invocationRunner } from "../../src/runner/invocation/runner.ts";
import { invocationTask } from "../../src/runner/invocation/root-task.ts";
import { localRunner, type LocalRunnerOptions } from "../../src/runner/local/runner.ts";
import type { Store, StoredEvent } from "../../src/store/store.ts";
import { openStoreIn } from "./stores.ts";
import { tempFolder } from "./temp-folder.ts";
import { ownSalt } from "../../src/store/names.ts";

export interface WorldOptions {
  readonly environment?: Partial<AgentEnvironment>;
  /** How agents of this process get workspaces. */
  readonly local?: Pick<LocalRunnerOptions, "workspaces" | "setUp">;
  readonly model?: (file: InvocationFile) => Model;
  readonly runners?: Readonly<Record<string, Runner>>;
  readonly folder?: string;
  /** The system's clock when absent. */
  readonly clock?: Clock;
  readonly onLive?: (delta: LiveDelta) => void;
  /** What was said in the thread of a task before it; `folder` is that of the state. */
  readonly history?: (folder: string, task: TaskId) => Promise<CompleteMessage[]>;
}

export class World {
  readonly folder: string;
  readonly engine: Engine;
  readonly store: Store;

  constructor(folder: string, options: WorldOptions = {}) {
    this.folder = folder;
    this.store = openStoreIn(folder);
    const environment = options.environment ?? {};
    const model = options.model ?? ((file: InvocationFile) => rehearsalModel(file.script ?? { rules: [] }));
    this.engine = new Engine({
      store: this.store,
      clock: options.clock ?? systemClock,
      runners: {
        local: localRunner({ ...environment, ...options.local, model }),
        invocation: invocationRunner(environment),
        ...options.runners,
      },
      ...(options.onLive === undefined ? {} : { onLive: options.onLive }),
      history: async (task) => options.history?.(folder, task) ?? [],
    });
  }

  async start(file: unknown): Promise<string> {
    return (await this.engine.start(this.taskOf(file))).task;
  }

  taskOf(file: unknown): NewTask {
    const reading = readInvocationFile(JSON.stringify(file));
    if (!reading.ok) throw new Error(JSON.stringify(reading.issues));
    return invocationTask(reading.file, { folder: this.folder });
  }

  /** Runs to the end of the root and returns what the invocation gave. */
  async invoke(file: unknown): Promise<InvocationResult> {
    const root = await this.engine.result(await this.start(file));
    if (root.status !== "completed") throw new Error(`the root ${root.status}: ${JSON.stringify(root.content)}`);
    return root.content as InvocationResult;
  }

  async scalar(file: unknown): Promise<AgentResult> {
    const result = await this.invoke(file);
    if (result.kind !== "scalar") throw new Error(`a ${result.kind}`);
    return result.result;
  }

  /** The engine's failure of the root, which must fail. */
  async refused(file: unknown): Promise<{ code: string; message: string }> {
    const root = await this.engine.result(await this.start(file));
    if (root.status !== "failed") throw new Error(`the root ${root.status}`);
    return root.content as { code: string; message: string };
  }

  events(task: string): StoredEvent[] {
    return this.store.eventsOf(idOf(task), 0, 100_000);
  }

  messages(task: string): CompleteMessage[] {
    return this.store.messages(idOf(task), 1).map((line) => messageIn(line.body, { ...line, task }));
  }

  /** What the tools of a task gave back, in the order of the calls. */
  toolResults(task: string): unknown[] {
    const results = this.messages(task).flatMap((message) =>
      message.parts.flatMap((part) => (part.part_type === "tool_result" ? [part.data] : [])),
    );
    const inOrder = results.toSorted((a, b) => a.tool_call_id.localeCompare(b.tool_call_id, "en", { numeric: true }));
    return inOrder.map((result) => result.parts[0]?.data);
  }

  tree(root: string): { id: string; agent: string; depth: number; parent: number | null }[] {
    return this.store.tree(idOf(root)).map((row) => ({
      id: `tsk_${ownSalt(this.store.salt)}_${row.id.toString(36)}`,
      agent: row.agent,
      depth: row.depth,
      parent: row.parent,
    }));
  }

  /** The ids of all waits raised in the tree, open ones too. */
  waits(
    root: string,
  ): { id: string; body: { ask?: { question: string; kind: string }; label?: string; details?: unknown } }[] {
    return this.store.waitsOf(idOf(root)).map((row) => ({
      id: `ask_${ownSalt(this.store.salt)}_${row.id.toString(36)}`,
      body: JSON.parse(row.body),
    }));
  }

  async close(): Promise<void> {
    await this.engine.stop();
    this.store.close();
  }
}

export function idOf(task: string): number {
  return Number.parseInt(task.split("_")[2] ?? "", 36);
}

export async function world(context: TestContext, options: WorldOptions = {}): Promise<World> {
  const made = new World(options.folder ?? tempFolder(context), options);
  context.after(() => made.close());
  await made.engine.recover();
  return made;
}
