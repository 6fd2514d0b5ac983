// What tests of operators and workers share: a real engine and operator hub, sockets on the loopback, restarts and kills.

import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { WebSocket, WebSocketServer } from "ws";

import type { TuttiError } from "../../src/protocol/error.ts";
import { Engine } from "../../src/engine/engine.ts";
import { type FakeClock, fakeClock } from "../../src/engine/fake-clock.ts";
import type { Durable, NewTask, Runner } from "../../src/ports.ts";
import type { TaskEvent } from "../../src/protocol/task/event.ts";
import { operatorSubprotocol, ServerFrame } from "../../src/protocol/operator/frames.ts";
import { gated } from "../../src/runner/operator/gate.ts";
import { operatorRunner } from "../../src/runner/operator/runner.ts";
import type { ServiceRecords } from "../../src/store/service-records.ts";
import type { Store } from "../../src/store/store.ts";
import type { StoreView } from "../../src/store/view.ts";
import { type EventFeed, openEventFeed } from "../../src/daemon/state/event-feed.ts";
import { OperatorHub } from "../../src/daemon/operators/operator-hub.ts";
import { Leases } from "../../src/daemon/operators/leases.ts";
import { openSigningKey, type SigningKey } from "../../src/daemon/operators/signing-key.ts";
import { WorkerQuotas } from "../../src/daemon/operators/worker-quota.ts";
import { type WorkerService, workerService } from "../../src/daemon/operators/worker-service.ts";
import { reopenAfterKill } from "./kill-process.ts";
import { settle, watchCommits, watchFollower } from "./settle.ts";
import { fencedAfterKill, isOnPostgres, openStoreIn, readsOfStoreIn } from "./stores.ts";
import type { Cleanup } from "./temp-folder.ts";
import { until, within } from "./wait-until.ts";

export type FrameOf<T extends ServerFrame["type"]> = Extract<ServerFrame, { type: T }>;

export interface Kit {
  readonly folder: string;
  readonly clock: FakeClock;
  readonly engine: Engine;
  readonly store: Store;
  readonly records: ServiceRecords;
  readonly view: StoreView;
  readonly feed: EventFeed;
  readonly hub: OperatorHub;
  readonly workers: WorkerService;
  readonly signingKey: SigningKey;
  readonly warnings: string[];
  readonly url: string;
  /** Bytes that wait in this process for peers to read them. */
  buffered(): number;
  stop(): Promise<void>;
}

export interface KitOptions {
  readonly clock?: FakeClock;
  /** Loops of tasks that no operator runs, by agent; each behind the gate its tree names. */
  readonly loops?: Readonly<Record<string, (durable: Durable) => Promise<unknown>>>;
  readonly runners?: Readonly<Record<string, Runner>>;
  readonly maxIdleMs?: number;
  /** As long as no test lets pass when absent: time that jumps leaves no peer time to answer a ping. */
  readonly maxSilenceMs?: number;
  readonly redact?: (text: string) => string;
  readonly workerQuotas?: WorkerQuotas;
  readonly refusesWork?: () => TuttiError | undefined;
  /** How replies of operators reach the engine; at once when absent. */
  readonly deliver?: (engine: Engine) => Engine["deliver"];
}

export async function openKit(t: Cleanup, folder: string, options: KitOptions = {}): Promise<Kit> {
  const clock = options.clock ?? fakeClock();
  const store = openStoreIn(folder);
  watchCommits(store);
  const { records } = store;
  const committed = (): Promise<void> => store.committed();
  const keys = { isRevoked: () => false };
  const leases = new Leases({ salt: store.salt, records, committed, clock, keys });
  const loop: Runner = async (durable) => options.loops?.[durable.agent]?.(durable) ?? null;
  const engine = new Engine({
    store,
    clock,
    runners: { operator: gated(operatorRunner(leases)), loop: gated(loop), ...options.runners },
    ...(options.redact === undefined ? {} : { redact: options.redact }),
    ...(options.refusesWork === undefined ? {} : { refusesWork: options.refusesWork }),
  });
  await engine.recover();
  const { view, news, reads } = readsOfStoreIn(folder, store);
  const feed = await openEventFeed(news, view);
  const isTold = async (): Promise<boolean> => {
    // The events that are committed get their places first.
    await view.lastEvent();
    return (await view.eventsAfter({ after: feed.position, limit: 1 })).rows.length === 0;
  };
  const unwatch = isOnPostgres() ? watchFollower(isTold) : (): void => undefined;
  const signingKey = await openSigningKey(join(folder, "signing.key"));
  const warnings: string[] = [];
  const log = { info: () => undefined, warn: (_: unknown, message: string) => void warnings.push(message) };
  const base = { store, records, committed, feed, engine, clock, leases, keys, signingKey, log };
  const { maxIdleMs = 24 * 60 * 60 * 1000, maxSilenceMs = 1e12 } = options;
  const deliver = options.deliver?.(engine) ?? ((wait, value, by) => engine.deliver(wait, value, by));
  const hub = new OperatorHub({
    ...base,
    engine: { deliver, message: (task, message, how) => engine.message(task, message, how) },
    reads,
    maxIdleMs,
    maxSilenceMs,
    baseUrl: () => "http://127.0.0.1:7",
  });
  const server = new WebSocketServer({
    host: "127.0.0.1",
    port: 0,
    perMessageDeflate: false,
    maxPayload: 8 * 1024 * 1024,
    handleProtocols: (offered) => (offered.has(operatorSubprotocol) ? operatorSubprotocol : false),
  });
  await once(server, "listening");
  server.on("connection", (socket, request) => hub.connect((request.url ?? "").slice(1), socket));
  let stopped: Promise<void> | undefined;
  const kit: Kit = {
    folder,
    clock,
    engine,
    store,
    records,
    view,
    feed,
    hub,
    workers: workerService({ ...base, workerQuotas: options.workerQuotas ?? new WorkerQuotas() }),
    signingKey,
    warnings,
    url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}`,
    buffered: () => Array.from(server.clients, (socket) => socket.bufferedAmount).reduce((sum, each) => sum + each, 0),
    stop: () =>
      (stopped ??= (async () => {
        unwatch();
        try {
          await hub.close();
          await engine.stop();
        } finally {
          server.close();
          feed.close();
          view.close();
          store.close();
        }
      })()),
  };
  t.after(() => fencedAfterKill(kit.stop()));
  return kit;
}

/** Ends the process in an orderly way and starts another on the same folder, at the same time on the clock. */
export async function restarted(t: Cleanup, kit: Kit, options: KitOptions = {}): Promise<Kit> {
  await kit.stop();
  return openKit(t, kit.folder, { ...options, clock: kit.clock });
}

/** What a kill at this moment would leave, and another process started on it. */
export async function killed(t: Cleanup, kit: Kit, options: KitOptions = {}): Promise<Kit> {
  return reopenAfterKill(t, kit, (folder) => openKit(t, folder, { ...options, clock: kit.clock }));
}

/** A tree of one task that an operator runs. */
export function operatorTask(config: unknown = {}, input: unknown = "do it"): NewTask {
  return { runner: { kind: "operator", config }, agent: "coder", input, rights: { tools: "*", roots: [] } };
}

export function loopTask(agent: string, input: unknown): NewTask {
  return { runner: { kind: "loop", config: {} }, agent, input, rights: { tools: "*", roots: [] } };
}

export interface Joined {
  readonly sid: string;
  readonly token: string;
}

export async function joined(kit: Kit, ...roles: string[]): Promise<Joined> {
  const result = await kit.hub.join(roles, "test");
  if (!result.ok) throw new Error(`conflicts: ${result.conflicts.join()}`);
  return { sid: result.sid, token: result.token };
}

/** An operator's side of a real socket. */
export class Peer {
  readonly socket: WebSocket;
  readonly frames: ServerFrame[] = [];
  #taken = 0;
  #wake: (() => void) | undefined;
  readonly closed: Promise<{ code: number; reason: string }>;

  constructor(socket: WebSocket) {
    this.socket = socket;
    socket.on("error", () => undefined);
    socket.on("message", (data) => {
      this.frames.push(ServerFrame.parse(JSON.parse(Buffer.from(data as Buffer).toString())));
      this.#wake?.();
    });
    this.closed = new Promise((resolve) => {
      socket.on("close", (code, reason) => resolve({ code, reason: String(reason) }));
    });
  }

  /** The next frame of the type, whatever came between. */
  async next<T extends ServerFrame["type"]>(type: T): Promise<FrameOf<T>> {
    return within(async () => {
      for (;;) {
        while (this.#taken < this.frames.length) {
          const frame = this.frames[this.#taken];
          this.#taken += 1;
          if (frame !== undefined && isOf(frame, type)) return frame;
        }
        await new Promise<void>((resolve) => (this.#wake = resolve));
      }
    }, `a frame ${type}`);
  }

  send(frame: unknown): void {
    this.socket.send(typeof frame === "string" ? frame : JSON.stringify(frame));
  }

  /** Resolves when everything sent before was read by the other side: pongs come in order. */
  async settled(): Promise<void> {
    const pong = once(this.socket, "pong");
    this.socket.ping();
    await within(() => pong, "a pong");
  }

  async drop(): Promise<void> {
    this.socket.terminate();
    await within(() => this.closed, "the end of a socket");
  }
}

function isOf<T extends ServerFrame["type"]>(frame: ServerFrame, type: T): frame is FrameOf<T> {
  return frame.type === type;
}

export async function connected(kit: Kit, sid: string, protocols: string[] = [operatorSubprotocol]): Promise<Peer> {
  const socket = new WebSocket(`${kit.url}/${sid}`, protocols);
  const peer = new Peer(socket);
  await within(() => once(socket, "open"), "a connection");
  await until(() => kit.hub.info(sid)?.connected !== false);
  return peer;
}

/** The event, when it has happened. */
export async function eventOf<T extends TaskEvent["type"]>(
  kit: Kit,
  type: T,
  task?: string,
): Promise<Extract<TaskEvent, { type: T }>> {
  const isWanted = (event: TaskEvent): event is Extract<TaskEvent, { type: T }> =>
    event.type === type && (task === undefined || event.task === task);
  return until(async () => {
    const { events: stored } = await kit.feed.read({ after: 0, limit: 100_000 });
    return stored.map(({ event }) => event).findLast(isWanted);
  }, `the event ${type}`);
}

/** All events of what has been done so far. */
export async function allEvents(kit: Kit): Promise<TaskEvent[]> {
  await settle();
  const { events: stored } = await kit.feed.read({ after: 0, limit: 100_000 });
  return stored.map(({ event }) => event);
}

/** Lets time pass when all that is under way has come to rest. */
export async function passed(kit: Kit, ms: number): Promise<void> {
  await settle();
  kit.clock.advance(ms);
  await settle();
}
