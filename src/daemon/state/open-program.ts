// Opens a state folder, or a state in memory, for the agents and workflows of one program, and takes up what it left unfinished.

import { existsSync } from "node:fs";
import { join, resolve } from "node:path";

import type { Tutti } from "../../client/client.ts";
import type { AgentEnvironment } from "../../agent/agent-environment.ts";
import { agentEnvironment } from "../../agent/agent-environment.ts";
import { systemClock } from "../../engine/clock.ts";
import { Engine } from "../../engine/engine.ts";
import { refuseSharedFolder } from "../../files/private-folder.ts";
import type { ModelObject } from "../../model/model-object.ts";
import type { Clock, Runner, Tasks } from "../../ports.ts";
import { TuttiError } from "../../protocol/error.ts";
import type { TaskId } from "../../protocol/ids.ts";
import type { InvocationFile } from "../../protocol/invocation/invocation-file.ts";
import type { RehearsalScript } from "../../protocol/invocation/rehearsal-script.ts";
import { programKind } from "../../protocol/invocation/runner-kinds.ts";
import { userMessage } from "../../protocol/task/message.ts";
import type { Program, ProgramWorkflow } from "../../runner/program/program.ts";
import { hasName, programRunner } from "../../runner/program/runner.ts";
import { makeFolder, openDatabase, openInMemory } from "../../store/sqlite/database.ts";
import { takeLock } from "../../store/sqlite/lock.ts";
import { storeOver } from "../../store/sqlite/sqlite-store.ts";
import type { Store } from "../../store/store.ts";
import type { StoreView } from "../../store/view.ts";
import { viewOver } from "../../store/sqlite/sqlite-view.ts";
import { programModel } from "../project/program-model.ts";
import type { ProgramServers } from "../project/program-servers.ts";
import { SecretKeeper } from "../secrets/secret-keeper.ts";
import { type CrashPlan, crashing } from "./crash-plan.ts";
import { watchDiskSpace } from "./disk-space.ts";
import { follow, type FollowSource } from "./follow-feed.ts";
import { liveRelay } from "./live-relay.ts";
import type { StoreReads } from "./reader.ts";

interface ProgramParts {
  readonly file: InvocationFile;
  readonly environment: Partial<AgentEnvironment>;
  /** Made when there is a program, since a workflow starts tasks of it. */
  readonly workflows: (program: () => Program) => readonly ProgramWorkflow[];
  /** Models that are objects or scripts, by name. */
  readonly models: ReadonlyMap<string, ModelObject | RehearsalScript>;
  /** The models part of a config: prices, providers, aliases. */
  readonly modelsConfig: unknown;
}

export interface OpenProgramOptions extends ProgramParts {
  /** The state folder; undefined when nothing is to be kept. */
  readonly state: string | undefined;
  /** How many tasks run at the same time. */
  readonly slots: number;
  readonly clock?: Clock | undefined;
  readonly crash?: CrashPlan | undefined;
  /** MCP servers, as in a config; undefined when there are none. */
  readonly mcpServers?: unknown;
}

/** The part of a front's interface that a program in its own process has. */
type ProgramClient = Pick<
  Tutti,
  | "follow"
  | "result"
  | "asks"
  | "ask"
  | "answer"
  | "cancel"
  | "sendMessage"
  | "task"
  | "tasks"
  | "tree"
  | "messages"
  | "threads"
  | "thread"
  | "threadMessages"
  | "forkThread"
>;

export interface OpenedProgram {
  readonly program: Program;
  readonly tasks: Pick<Tasks, "start">;
  readonly client: ProgramClient;
  readonly clock: Clock;
  readonly parked: readonly { readonly task: TaskId; readonly name: string; readonly reason: string }[];
  /** Resolves when the crash that was planned has happened. */
  readonly crashed: Promise<void>;
  close(): Promise<void>;
}

export async function openProgram(options: OpenProgramOptions): Promise<OpenedProgram> {
  const { clock = systemClock, crash } = options;
  const folder = options.state === undefined ? undefined : resolve(options.state);
  const secrets = new SecretKeeper();
  const model = await programModel(options, { clock, secrets });
  if (folder !== undefined) {
    refuseSharedFolder(folder);
    makeFolder(folder);
  }
  const lock = folder === undefined ? undefined : takeLock(folder);
  let servers: ProgramServers | undefined;
  try {
    if (folder !== undefined) await endServersLeftIn(folder);
    servers = await serversOf(options.mcpServers, folder);
    const opened = folder === undefined ? openInMemory() : openDatabase(folder);
    const store = storeOver(opened);
    const view = viewOver(opened);
    const live = liveRelay(secrets);
    const environment = agentEnvironment({
      ...options.environment,
      tools: [...(options.environment.tools ?? []), ...(servers?.tools ?? [])],
      ownRunner: programKind,
      runners: [{ kind: programKind, runtime: programKind }],
      offLimits: folder === undefined ? [] : [folder],
    });
    const workflows = new Map<string, ProgramWorkflow>();
    const program: Program = { file: options.file, environment, workflows, model };
    for (const each of options.workflows(() => program)) workflows.set(each.name, each);
    const parked: OpenedProgram["parked"][number][] = [];
    const crashed = Promise.withResolvers<void>();
    let isDead = false;
    const die = (): void => {
      isDead = true;
      opened.close();
      lock?.release();
      crashed.resolve();
    };
    const runner: Runner = programRunner(program);
    const engine = new Engine({
      store,
      clock,
      slots: options.slots,
      redact: (text) => secrets.redact(text),
      runners: { [programKind]: crash === undefined ? runner : crashing(runner, crash, { store, die }) },
      runs: (task) => hasName(program, task.agent),
      onParked: (task, kind, name) => parked.push({ task, name, reason: whyParked(kind, name) }),
      onLeft: (task, error) => parked.push({ task, name: "", reason: error.message }),
      onLive: live.tell,
      history: async (task) => (await import("./thread-messages.ts")).historyBefore(view, task),
      ...(folder === undefined ? {} : { refusesWork: watchDiskSpace(folder) }),
    });
    let reads: Promise<StoreReads> | undefined;
    // Loaded when somebody looks: a program that only waits for results needs none of it.
    const reading = (): Promise<StoreReads> =>
      (reads ??= import("./reader.ts").then(({ readsOf }) => readsOf(view, folder ?? "")));
    await engine.recover();
    return {
      program,
      tasks: engine,
      clock,
      parked,
      crashed: crashed.promise,
      client: clientOver({
        store,
        view,
        engine,
        reading,
        onCommit: (listener) => store.onCommit(listener),
        onLive: live.on,
      }),
      async close() {
        if (isDead) return;
        isDead = true;
        try {
          await engine.stop();
        } finally {
          servers?.close();
          store.close();
          lock?.release();
        }
      },
    };
  } catch (thrown) {
    servers?.close();
    lock?.release();
    throw thrown;
  }
}

/** Of a program before this one that was killed. */
async function endServersLeftIn(folder: string): Promise<void> {
  if (!existsSync(join(folder, "mcp-processes"))) return;
  const { endLeftServers } = await import("../../mcp/process-ledger.ts");
  await endLeftServers(folder);
}

async function serversOf(given: unknown, folder: string | undefined): Promise<ProgramServers | undefined> {
  if (given === undefined) return undefined;
  if (folder === undefined) {
    throw new TuttiError("invalid_input", "mcpServers need a state folder, which keeps what they leave; give `state`");
  }
  const { openProgramServers } = await import("../project/program-servers.ts");
  return openProgramServers(given, folder);
}

function whyParked(kind: string, name: string): string {
  if (kind !== programKind) return `it has the runner ${kind}, which a program does not run; a daemon does`;
  return `the program has no agent or workflow ${name}; give it to openTutti, and the task goes on`;
}

interface ClientParts {
  readonly store: Store;
  readonly view: StoreView;
  readonly engine: Engine;
  readonly reading: () => Promise<StoreReads>;
  readonly onCommit: (listener: () => void) => () => void;
  readonly onLive: NonNullable<FollowSource["onLive"]>;
}

function clientOver({ store, view, engine, reading, onCommit, onLive }: ClientParts): ProgramClient {
  const source: FollowSource = {
    read: async (page) => (await reading()).eventPage(page),
    subtree: async (task) => (await reading()).subtree(task),
    onMore: onCommit,
    onLive,
    failure: () => engine.halted,
  };
  return {
    follow: (given) => follow(source, given),
    result: (task, signal) => engine.result(task, signal),
    asks: async (task) => (await reading()).asks(task),
    ask: async (ask) => (await reading()).ask(ask),
    task: async (task) => (await reading()).task(task),
    tasks: async (query) => (await reading()).tasks(query),
    tree: async (task) => (await reading()).tree(task),
    messages: async (task, page) => (await reading()).messages(task, page),
    threads: async (query) => (await reading()).threads(query),
    thread: async (thread) => (await reading()).thread(thread),
    threadMessages: async (thread, query) => (await reading()).threadMessages(thread, query),
    async forkThread(thread, options) {
      const { threadControl } = await import("./thread-control.ts");
      return threadControl({ store, view, engine }).forkThread(thread, options);
    },
    async answer(ask, answer, by) {
      const delivery = await engine.deliver(ask, answer, by);
      return delivery.outcome === "accepted"
        ? { accepted: true }
        : { accepted: false, code: delivery.outcome, message: delivery.message };
    },
    cancel: (task, reason) => engine.cancel(task, reason),
    async sendMessage(task, text, { interrupt = false } = {}) {
      if (interrupt)
        throw new TuttiError("refused", "a program's task cannot be interrupted; send a message, or cancel it");
      await engine.message(task, userMessage(text));
      return task;
    },
  };
}
