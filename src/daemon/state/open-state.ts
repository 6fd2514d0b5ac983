// Opens a state folder for work: builds every implementation, puts them together, and takes up what was left unfinished.

import { randomUUID } from "node:crypto";

import { systemClock } from "../../engine/clock.ts";
import { Engine } from "../../engine/engine.ts";
import type { DayLimits } from "../../core/day-ledger.ts";
import type { DayCap } from "../../engine/day-cap.ts";
import type { EngineOptions } from "../../engine/engine-options.ts";
import type { ServiceStatus } from "../../protocol/api/service.ts";
import { commandRunner } from "../../runner/command/runner.ts";
import { gated } from "../../runner/operator/gate.ts";
import { removeOldHomes, sessionHomes } from "../../runner/acp/old-homes.ts";
import { operatorRunner } from "../../runner/operator/runner.ts";
import { approved } from "../../runner/shared/approve-runner.ts";
import { endLeftServers } from "../../mcp/process-ledger.ts";
import { cleanUp, guardNoted } from "../../runner/shared/process/clean-up.ts";
import { type FolderOf, runnersHere } from "../../runner/shared/moved-project.ts";
import { heldFolder, HeldStore } from "../../runner/shared/sandbox/held-files.ts";
import { refuseSharedFolder } from "../../files/private-folder.ts";
import { removeLeftCheckouts } from "../project/checks-folder.ts";
import { makeFolder } from "../../store/sqlite/database.ts";
import { idInName } from "../../store/names.ts";
import type { AskId, TaskId } from "../../protocol/ids.ts";
import type { TuttiError } from "../../protocol/error.ts";
import { isTerminal } from "../../protocol/task/task-status.ts";
import type { Store } from "../../store/store.ts";
import { takeLock } from "../../store/sqlite/lock.ts";
import { openRecords } from "./open-records.ts";
import type { KeptRecords } from "./kept-records.ts";
import { Attendance } from "../attendance/attendance.ts";
import { openEventFeed } from "./event-feed.ts";
import { followShared } from "./follow-shared.ts";
import { liveOfAllNodes } from "../cluster/live-between-nodes.ts";
import { liveRelay } from "./live-relay.ts";
import { watchDiskSpace } from "./disk-space.ts";
import { InsightIndex } from "../insight/insight-index.ts";
import { Keys } from "./api-keys.ts";
import { PageTokens } from "./page-tokens.ts";
import { readsInTurns } from "./take-turns.ts";
import { watchIdleSessions } from "./watch-idle-sessions.ts";
import { localClient } from "./local-client.ts";
import { OperatorHub } from "../operators/operator-hub.ts";
import type { ServiceLog } from "../operators/service-log.ts";
import { Leases } from "../operators/leases.ts";
import { openSharedSigningKey, openSigningKeyIn } from "../operators/signing-key.ts";
import { WorkerQuotas } from "../operators/worker-quota.ts";
import { scheduleRunner } from "../../runner/schedule/runner.ts";
import { endSchedulesOfKey, machineOffset, scheduledStarter } from "./schedule-control.ts";
import { StartGoal } from "../../protocol/api/goal-shapes.ts";
import { dayLimitsOf } from "../project/limits-config.ts";
import { stateDayCap } from "./state-day-cap.ts";
import { goalStarter } from "./start-goal.ts";
import { savedWorkOf } from "./saved-work.ts";
import { invocationStarter } from "./start-invocation.ts";
import { historyBefore } from "./thread-messages.ts";
import { routedWorkers } from "../operators/worker-routing.ts";
import { workerService } from "../operators/worker-service.ts";
import { SecretKeeper } from "../secrets/secret-keeper.ts";
import { collectSecrets } from "../secrets/collect-secrets.ts";
import { openProviderKeys, type ProviderKeys } from "../secrets/provider-keys.ts";
import { keptApprovals } from "../project/kept-approvals.ts";
import type { RunnerRegistry } from "../../ports.ts";
import { openProjectRuntimes } from "../project/project-runtimes.ts";
import { workspacesRoot } from "../project/workspaces-config.ts";
import type { PreparedNode } from "../cluster/prepare-node.ts";
import { projectNames } from "../documents/project-names.ts";
import { useDocuments } from "../documents/documents-of.ts";
import { machineOf } from "./machine-identity.ts";
import { runPersonsProgram } from "./run-persons-program.ts";
import type { SavedWork } from "../../runner/shared/work-elsewhere.ts";
import type { Machine } from "../../workspace/index.ts";
import type { State } from "./state.ts";
import { type WorkspaceService, workspaceService } from "./workspace-service.ts";
import { version } from "../version.ts";

export interface OpenOptions {
  readonly log?: ServiceLog;
  /** How much of the disk must be free for new work to be taken. */
  readonly minFreeBytes?: number | undefined;
  /**
   * When unfinished tasks go on: `now`, before the state is returned; `later`, when `State.resume` is called; `never`: they
   * are there to be canceled, and nothing of any project is loaded or run.
   */
  readonly resume?: "now" | "later" | "never";
  /** Keeps the records in a database that several nodes share, as this node; absent when they are in the folder. */
  readonly node?: PreparedNode | undefined;
}

const noLog: ServiceLog = { info: () => undefined, warn: () => undefined };

export async function openState(folder: string, options: OpenOptions = {}): Promise<State> {
  const { log = noLog, minFreeBytes, resume = "now", node } = options;
  const clock = systemClock;
  const secrets = new SecretKeeper();
  const providerKeys = openProviderKeys(folder, (secret) => secrets.add([secret]));
  // No task runs before the store is open.
  let isOver: (task: TaskId) => Promise<boolean> = async () => true;
  let savedWork: (task: TaskId) => Promise<SavedWork | undefined> = async () => undefined;
  let guard: KeptRecords["guard"];
  // Made when the records are open.
  let day: DayCap | undefined;
  let limits: DayLimits = {};
  // The folder is there when it is asked for.
  const machine = (): Machine | undefined => (node === undefined ? undefined : machineOf(folder, node.name));
  // Made when the folder is open.
  let fixedRunners: RunnerRegistry = {};
  const projects = node === undefined ? undefined : projectFolders(folder);
  // Nothing waits before there is an engine.
  let settleWait: (wait: AskId, attendant: string) => Promise<unknown> = async () => undefined;
  const attendance = new Attendance({ clock, settle: (wait, attendant) => settleWait(wait, attendant) });
  const runtimes = openProjectRuntimes({
    attendance,
    state: folder,
    folderOf: projects,
    clock,
    providerKeys,
    isOver: (task) => isOver(task),
    machine,
    guard: (process) => guard?.(process) ?? Promise.resolve(),
    ...(node === undefined ? {} : { runPersonsProgram, savedWork: (task) => savedWork(task) }),
    onModels: (models) => secrets.add(collectSecrets({ env: process.env, models })),
    onWarning: (message) => log.warn({}, message),
    onUserConfig: (user) => {
      limits = dayLimitsOf(user.limits);
      day?.setLimits(limits);
    },
    otherRunners: () => fixedRunners,
  });
  // A config of the user that cannot be used is told before anything is touched.
  let root: string | undefined;
  if (resume !== "never") {
    const { models, notifications, workspaces } = await runtimes.userConfig();
    root = workspacesRoot(workspaces);
    const variables = notifications.webhook === undefined ? [] : [notifications.webhook.secret_env];
    secrets.add([...(node?.secrets ?? []), ...collectSecrets({ env: process.env, models, variables })]);
  }
  refuseSharedFolder(folder);
  makeFolder(folder);
  const lock = takeLock(folder);
  const opened: (() => void | Promise<void>)[] = [
    () => attendance.close(),
    () => runtimes.close(),
    () => lock.release(),
  ];
  try {
    const parked: ServiceStatus["parked"] = [];
    const leave = (task: TaskId, error: TuttiError): void => {
      parked.push({ task, runner: "", reason: error.message });
      log.warn({ task, err: error }, "a tree of tasks could not be taken up and stays as it is");
    };
    const kept = await openRecords(folder, node, { log, leave, onSecrets: (given) => secrets.add(given) });
    opened.unshift(() => kept.close());
    ({ guard } = kept);
    const { store, view, own, shared } = kept;
    // What callers read must not keep the engine waiting; the engine's own reads wait for none of theirs.
    const asked = shared === undefined ? readsInTurns(view) : view;
    const { records } = store;
    if (shared !== undefined) opened.unshift(useDocuments(folder, shared.documents));
    const { signingKey, text: signingText } = await (shared === undefined
      ? openSigningKeyIn(folder)
      : openSharedSigningKey(shared.documents, shared.key));
    secrets.add([{ name: "signing key", value: signingText }]);
    if (resume !== "never") redactStored(providerKeys, log);
    isOver = async (task) => {
      const id = idInName(store.salt, task);
      const place = id === undefined ? undefined : await view.place(id);
      return place === undefined || isTerminal(place.status);
    };
    savedWork = (task) => savedWorkOf(view, task);
    const committed = (): Promise<void> => store.committed();
    const redact = (text: string): string => secrets.redact(text);
    const live = liveRelay(secrets);
    const onLive = shared === undefined ? live.on : liveOfAllNodes(live.on, shared);
    const keys = new Keys({ records, own, committed, shared });
    const ofNodes =
      shared === undefined
        ? {}
        : { catchUp: () => shared.catchUp(), claimOnce: shared.claimOnce, places: shared.places };
    const pages = new PageTokens({ records, committed, keys, clock, ...ofNodes });
    const leases = new Leases({ salt: store.salt, records, committed, clock, keys });
    fixedRunners = {
      command: gated(approved("command", commandRunner({ offLimits: [folder] }))),
      operator: gated(operatorRunner(leases)),
    };
    // A schedule starts work through the engine that runs the schedule.
    const startScheduled = scheduledStarter({
      invoke: (text, options) => invocationStarter({ engine: tasks, runtimes })(text, options),
      startGoal: (goal, options) => goalStarter({ engine: tasks, runtimes })(StartGoal.parse(goal), options),
    });
    const placed = (all: RunnerRegistry): RunnerRegistry => (projects === undefined ? all : runnersHere(all, projects));
    const cap = (day = stateDayCap({ folder, clock, view, node: shared?.node ?? "" }));
    cap.setLimits(limits);
    // After the engine has stopped, while the records are still there.
    opened.unshift(() =>
      cap.close().catch((thrown: unknown) => log.warn({ err: thrown }, "what the day may still use could not be told")),
    );
    if (shared !== undefined)
      opened.unshift(shared.onShared((changes) => changes.some(({ name }) => name === "documents") && cap.follow()));
    const engine = new Engine({
      store,
      day: cap,
      clock,
      redact,
      sharesStore: shared !== undefined,
      runners: placed({
        ...fixedRunners,
        schedule: scheduleRunner({
          start: (work) => startScheduled(work),
          offset: machineOffset,
          clock,
          isRevoked: (key) => keys.isRevoked(key),
        }),
      }),
      treeRunners: runtimes.treeRunners,
      cleanUp,
      ...guardOption(guard),
      onParked: (task, runner) => parked.push({ task, runner }),
      onLeft: leave,
      onLive: live.tell,
      history: (task) => historyBefore(view, task),
      untilOver: (task) => tasks.result(task),
      refusesWork: watchDiskSpace(folder, { minFreeBytes }),
    });
    opened.unshift(leasesOutlastStalls(store, leases));
    const tasks = kept.control(engine, runtimes.ownRunners);
    settleWait = (wait, attendant) => tasks.deliver(wait, { attendant }, { kind: "person", name: "program" });
    const workspaces = workspaceService({
      folder,
      view,
      redact,
      log,
      root,
      machine: machine(),
      now: () => clock.now(),
      config: async () => (await runtimes.userConfig()).workspaces,
      settings: async (project) => {
        // The settings of a project that is gone or not trusted do not count.
        const own = await runtimes.runtimeOf(project).catch(() => undefined);
        return (own ?? (await runtimes.userConfig())).workspaces;
      },
    });
    const cannotPassOn = (thrown: unknown): void => log.warn({ err: thrown }, "events could not be passed on");
    const feed = await openEventFeed(kept.news, view, cannotPassOn, asked);
    opened.unshift(() => feed.close());
    let starting = resume === "later";
    let resumed = 0;
    const holdLeftovers = async (): Promise<void> => {
      await new HeldStore(heldFolder(folder), [folder]).recover({
        now: clock.now(),
        onProblem: (message) => log.warn({}, message),
      });
      await removeOldHomes(sessionHomes(folder), (task) => isOver(task));
      await removeLeftCheckouts(folder);
      await endLeftServers(folder);
    };
    if (resume !== "later") {
      await holdLeftovers();
      await workspaces.recover();
      resumed = await kept.recover({ launch: resume !== "never" });
    }
    let url: string | null = null;
    let idle: ReturnType<typeof watchIdleSessions> | undefined;
    const base = { store, records, committed, feed, engine, clock, leases, keys, signingKey, log };
    const operators = new OperatorHub({
      ...base,
      ...ofNodes,
      reads: kept.reads,
      engine: tasks,
      baseUrl: () => url ?? "http://127.0.0.1",
    });
    if (shared !== undefined) opened.unshift(followShared({ shared, pages, operators }));
    const workersHere = workerService({ ...base, ...ofNodes, workerQuotas: new WorkerQuotas() });
    const workers =
      shared === undefined
        ? workersHere
        : routedWorkers(workersHere, {
            ...base,
            ...ofNodes,
            salt: store.salt,
            ownerOf: shared.ownerOf,
            fetchFrom: (target) => shared.fetchFrom(target),
          });
    const logged = (thrown: unknown): void =>
      log.warn({ err: thrown }, "what came from a revoked key could not be ended");
    // Before the tasks are taken up they cannot be told. Until then no operator and no worker is let in either.
    keys.onRevoked((id) => (starting ? undefined : operators.endRightsOfKey(id).catch(logged)));
    keys.onRevoked((id) =>
      starting ? undefined : endSchedulesOfKey({ view, engine: tasks, client }, id).catch(logged),
    );
    const approvals = keptApprovals(folder);
    const endApprovals = (): Promise<void> => approvals.endOfKeys((id) => keys.isRevoked(id));
    await endApprovals();
    keys.onRevoked(endApprovals);
    const recover = async (): Promise<void> => {
      await holdLeftovers();
      await workspaces.recover();
      resumed = await kept.recover({ launch: true });
      starting = false;
      workspaces.keepWithinLimits();
      idle = watchIdleSessions({
        client,
        idleAfter: async () => (await runtimes.userConfig()).sessions.idle_after,
        now: () => clock.now(),
        log,
      });
      await operators.endRevokedRights().catch(logged);
    };
    if (resume === "now") await operators.endRevokedRights().catch(logged);
    const facts = { instance: randomUUID(), version, pid: process.pid, state: folder, started_at: clock.now() };
    const insight = new InsightIndex({
      folder,
      view,
      feed,
      onError: (error) =>
        log.warn({ err: error }, "the index for searches and charts has ended; a question begins it anew"),
    });
    let closing: Promise<void> | undefined;
    const close = (graceMs: number): Promise<void> =>
      (closing ??= closeAll({ engine, operators, workspaces, insight, idle }, graceMs, opened));
    const client = localClient({
      attendance,
      shared,
      store,
      view: asked,
      engine,
      tasks,
      feed,
      runtimes,
      threadProjects: kept.threadProjects,
      keys,
      pages,
      operators,
      redact,
      kept: approvals,
      workspaces: workspaces.control,
      onLive,
      setup: async (at) =>
        (await import("../project/describe-setup.ts")).describeSetup({ state: folder, minFreeBytes, ...at }),
      day: cap,
      nodes: shared === undefined ? undefined : () => shared.nodes(),
      facts: () => ({ ...facts, url, starting, resumed, parked }),
      parkedElsewhere: kept.parked,
      close: () => close(0),
    });
    return {
      folder,
      store,
      records,
      own,
      shared,
      view: asked,
      engine,
      tasks,
      onOwnLive: live.on,
      feed,
      insight,
      operators,
      workers,
      keys,
      pages,
      redact,
      client,
      onLive,
      resume: recover,
      isStarting: () => starting,
      unavailable: () => kept.unavailable(),
      listening: (at) => (url = at),
      close: ({ graceMs = 0 } = {}) => close(graceMs),
    };
  } catch (thrown) {
    for (const shut of opened) await shut();
    throw thrown;
  }
}

/** Where projects that a person named are on this machine, by their name. */
function projectFolders(state: string): FolderOf {
  const folders = new Map([...projectNames(state)].map(([at, name]) => [name, at]));
  return (name) => folders.get(name);
}

function guardOption(guard: KeptRecords["guard"]): Pick<EngineOptions, "guard"> {
  return guard === undefined ? {} : { guard: (note) => guardNoted(guard, note) };
}

/** A key that cannot be read is not used either; whoever needs it gets the error. */
function redactStored(keys: ProviderKeys, log: ServiceLog): void {
  const attempt = (read: () => void): void => {
    try {
      read();
    } catch (thrown) {
      log.warn({ err: thrown }, "a key that is kept for a provider cannot be used");
    }
  };
  attempt(() => {
    for (const provider of keys.list()) attempt(() => void keys.get(provider));
  });
}

interface Closing {
  readonly engine: Engine;
  readonly operators: OperatorHub;
  readonly workspaces: WorkspaceService;
  readonly insight: InsightIndex;
  readonly idle: ReturnType<typeof watchIdleSessions> | undefined;
}

async function closeAll(
  { engine, operators, workspaces, insight, idle }: Closing,
  graceMs: number,
  opened: readonly (() => void | Promise<void>)[],
): Promise<void> {
  try {
    await idle?.close();
    await insight.close();
    await operators.close();
    await (graceMs > 0 ? engine.drain(graceMs) : engine.stop());
    await workspaces.close();
  } finally {
    for (const shut of opened) await shut();
  }
}

/** Workers could not be heard while nothing could be written. As after a restart, they get time to be heard again. */
function leasesOutlastStalls(store: Pick<Store, "onCommit" | "stalled">, leases: Leases): () => void {
  let wasStalled = false;
  return store.onCommit(() => {
    const isStalled = store.stalled !== undefined;
    if (wasStalled && !isStalled) leases.graceFromNow();
    wasStalled = isStalled;
  });
}
