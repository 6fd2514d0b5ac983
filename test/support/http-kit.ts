// What tests and benchmarks of the HTTP service share: a real engine, operators and workers behind a real server on 127.0.0.1.

import { mkdtempSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { systemClock } from "../../src/engine/clock.ts";
import { Engine } from "../../src/engine/engine.ts";
import type { NewTask, RunnerRegistry } from "../../src/ports.ts";
import type { LiveDelta } from "../../src/protocol/task/event.ts";
import type { TaskId } from "../../src/protocol/ids.ts";
import { operatorReads } from "../../src/store/sqlite/operator-reads.ts";
import type { StoreView } from "../../src/store/view.ts";
import { historyBefore } from "../../src/daemon/state/thread-messages.ts";
import { openEventFeed } from "../../src/daemon/state/event-feed.ts";
import { Keys } from "../../src/daemon/state/api-keys.ts";
import { InsightIndex } from "../../src/daemon/insight/insight-index.ts";
import { PageTokens } from "../../src/daemon/state/page-tokens.ts";
import { localClient } from "../../src/daemon/state/local-client.ts";
import { OperatorHub } from "../../src/daemon/operators/operator-hub.ts";
import { Leases } from "../../src/daemon/operators/leases.ts";
import { openEmbeddedRecords } from "../../src/daemon/state/embedded-records.ts";
import type { KeptRecords } from "../../src/daemon/state/kept-records.ts";
import { openSharedRecords } from "../../src/daemon/state/shared-records.ts";
import { isOnPostgres, newDatabase } from "./stores.ts";
import { openSigningKey } from "../../src/daemon/operators/signing-key.ts";
import { WorkerQuotas } from "../../src/daemon/operators/worker-quota.ts";
import { workerService } from "../../src/daemon/operators/worker-service.ts";
import { describeSetup } from "../../src/daemon/project/describe-setup.ts";
import { openProviderKeys } from "../../src/daemon/secrets/provider-keys.ts";
import { workspaceControl } from "../../src/daemon/state/workspace-control.ts";
import { openWorkspaces } from "../../src/workspace/record-store.ts";
import { clusterKeyFrom, newClusterKey } from "../../src/daemon/cluster/cluster-key.ts";
import { keptApprovals } from "../../src/daemon/project/kept-approvals.ts";
import { Attendance } from "../../src/daemon/attendance/attendance.ts";
import { openProjectRuntimes } from "../../src/daemon/project/project-runtimes.ts";
import type { State } from "../../src/daemon/state/state.ts";
import { type HttpOptions, type RunningHttp, startHttp } from "../../src/daemon/http/start-http.ts";

export interface KitOptions {
  readonly runners?: RunnerRegistry;
  readonly slots?: number;
  /** Called after every commit, before anybody else hears of it. */
  readonly onCommit?: () => void;
  readonly http?: Partial<HttpOptions>;
  /** What the user's config says of workspaces. */
  readonly workspaceLimits?: { readonly max_size?: number; readonly keep_days?: number };
  readonly wrapView?: (view: StoreView) => StoreView;
  /** Parts of the state in place of the real ones. */
  readonly state?: Partial<State>;
}

export interface Kit {
  readonly state: State;
  readonly keys: Keys;
  readonly http: RunningHttp;
  /** Of an admin. */
  readonly key: string;
  readonly folder: string;
  readonly live: (delta: LiveDelta) => void;
  /** With the admin's key unless the headers say otherwise. */
  call(path: string, init?: CallInit): Promise<Replied>;
  /** Sends the text as it is, and gives all that came back when the connection was closed. */
  raw(text: string): Promise<string>;
  start(task: Partial<NewTask> & { readonly agent: string }): Promise<TaskId>;
  close(): Promise<void>;
}

export interface CallInit extends Omit<RequestInit, "headers"> {
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly json?: unknown;
}

export interface Replied {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The body read as JSON; undefined when it is none. */
  readonly body: Readonly<Record<string, unknown>> | undefined;
}

const quiet = { info() {}, warn() {}, error() {}, debug() {} };
const facts = { instance: "here", version: "0.0.0", pid: process.pid, started_at: 0 };

/** In the folder, or in a database that only this kit uses. */
function openRecordsIn(folder: string): KeptRecords | Promise<KeptRecords> {
  if (!isOnPostgres()) return openEmbeddedRecords(folder);
  const node = { address: newDatabase(), name: "kit", labels: [], leaseMs: 300_000 };
  const key = clusterKeyFrom(newClusterKey(), "the kit");
  return openSharedRecords(folder, { node, key, onLeft() {}, onProblem() {} });
}

export async function openKit(options: KitOptions = {}): Promise<Kit> {
  const folder = mkdtempSync(join(tmpdir(), "tutti-http-"));
  const kept = await openRecordsIn(folder);
  const { store, own, shared } = kept;
  if (options.onCommit !== undefined) store.onCommit(options.onCommit);
  const view = (options.wrapView ?? ((real) => real))(kept.view);
  const { records } = store;
  const committed = (): Promise<void> => store.committed();
  const keys = new Keys({ records, own, committed, shared });
  const pages = new PageTokens({ records, committed, keys, clock: systemClock });
  const key = await keys.ensureAdmin(join(folder, "admin.key"));
  const attendance = new Attendance({
    clock: systemClock,
    settle: (wait, attendant) => tasks.deliver(wait, { attendant }, { kind: "person", name: "program" }),
  });
  const runtimes = openProjectRuntimes({
    attendance,
    state: folder,
    clock: systemClock,
    onModels() {},
    providerKeys: openProviderKeys(folder),
  });
  const listeners = new Set<(delta: LiveDelta) => void>();
  const live = (delta: LiveDelta): void => listeners.forEach((listener) => listener(delta));
  const onLive: State["onLive"] = (listener) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  };
  const engine = new Engine({
    store,
    clock: systemClock,
    runners: { ...options.runners },
    treeRunners: runtimes.treeRunners,
    slots: options.slots ?? 64,
    onLive: live,
    history: (task) => historyBefore(view, task),
    untilOver: (task) => tasks.result(task),
    sharesStore: shared !== undefined,
  });
  const tasks = kept.control(engine, runtimes.ownRunners);
  await kept.recover({ launch: true });
  const feed = await openEventFeed(kept.news, view);
  const insight = new InsightIndex({ folder, view, feed, onError: (error) => console.error(error) });
  const leases = new Leases({ salt: store.salt, records, committed, clock: systemClock, keys });
  const signingKey = await openSigningKey(join(folder, "signing.key"));
  const base = { store, records, committed, feed, engine, clock: systemClock, leases, keys, signingKey, log: quiet };
  let url: string | null = null;
  const operators = new OperatorHub({ ...base, reads: operatorReads(store), baseUrl: () => url ?? "" });
  keys.onRevoked((id) => operators.endRightsOfKey(id));
  const state: State = {
    folder,
    store,
    records,
    own,
    shared,
    view,
    engine,
    tasks,
    feed,
    insight,
    operators,
    workers: workerService({ ...base, workerQuotas: new WorkerQuotas() }),
    keys,
    pages,
    redact: (text) => text,
    resume: async () => {},
    isStarting: () => false,
    unavailable: () => kept.unavailable(),
    listening: (at) => (url = at),
    client: localClient({
      redact: (text) => text.replaceAll("hunter2", "[secret]"),
      attendance,
      shared,
      store,
      view,
      engine,
      tasks,
      feed,
      runtimes,
      keys,
      pages,
      operators,
      kept: keptApprovals(folder),
      workspaces: workspaceControl({
        store: openWorkspaces(folder),
        view,
        redact: (text) => text.replaceAll("hunter2", "[secret]"),
        limits: async () => options.workspaceLimits ?? {},
        confine: async () => undefined,
        now: () => Date.now(),
      }),
      onLive,
      setup: (at) => describeSetup({ state: folder, ...at }),
      facts: () => ({ ...facts, url, state: folder, resumed: 0, starting: false, parked: [] }),
      close: async () => {},
    }),
    onLive,
    onOwnLive: onLive,
    async close() {
      attendance.close();
      await insight.close();
      feed.close();
      await operators.close();
      await engine.stop();
      await kept.close();
    },
    ...options.state,
  };
  const http = await startHttp({
    log: quiet,
    host: "127.0.0.1",
    port: 0,
    allowedHosts: [],
    onShutdown() {},
    openapi: () => ({ openapi: "3.1.0" }),
    project: () => Promise.reject(new Error("there is no project")),
    policy: () => Promise.reject(new Error("there is no project")),
    models: async () => [],
    runners: [],
    from: folder,
    ...options.http,
    state,
  }).catch(async (thrown: unknown) => {
    await state.close();
    rmSync(folder, { recursive: true, force: true });
    throw thrown;
  });
  return {
    state,
    keys,
    http,
    key,
    folder,
    live,
    call: (path, init) => call(`${http.url}${path}`, key, init),
    raw: (text) => raw(http.port, text),
    async start(task) {
      const whole = { runner: { kind: "loop", config: {} }, input: null, rights: { tools: "*" as const, roots: [] } };
      return (await engine.start({ ...whole, ...task })).task;
    },
    async close() {
      await http.close();
      await state.close();
      for (const each of [folder, `${folder}-workspaces`]) rmSync(each, { recursive: true, force: true });
    },
  };
}

async function call(url: string, key: string, init: CallInit = {}): Promise<Replied> {
  const { json, headers, ...rest } = init;
  const body = json === undefined ? {} : { method: "POST", body: JSON.stringify(json) };
  const type = json === undefined ? {} : { "content-type": "application/json" };
  const response = await fetch(url, {
    ...body,
    ...rest,
    headers: { authorization: `Bearer ${key}`, ...type, ...headers },
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, body: jsonIn(text) };
}

function jsonIn(text: string): Replied["body"] {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** A server that keeps the connection open would keep a test waiting: it is given a bounded time. */
const rawMs = 240_000;

function raw(port: number, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: "127.0.0.1", port });
    let got = "";
    socket.setEncoding("latin1").setTimeout(rawMs, () => socket.destroy(new Error(`nothing more after: ${got}`)));
    socket.on("data", (chunk: string) => (got += chunk));
    socket.on("error", (error) => ("code" in error && error.code === "ECONNRESET" ? resolve(got) : reject(error)));
    socket.on("close", () => resolve(got));
    socket.write(text, "latin1");
  });
}
