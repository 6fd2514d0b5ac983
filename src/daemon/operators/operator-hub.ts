// Connects operators with the requests that wait for them, over connections that come and go.

import type { WebSocket } from "ws";

import { askName, idInName } from "../../store/names.ts";
import type { Clock, Tasks } from "../../ports.ts";
import { toTuttiError } from "../../protocol/error.ts";
import type { TaskEvent } from "../../protocol/task/event.ts";
import type { HookVerdict, SpawnAnswer } from "../../protocol/operator/operator-request.ts";
import { isOperatorLabel, operatorLabel } from "../../protocol/operator/operator-request.ts";
import { anyOperator, type OperatorInfo, type OperatorTicket } from "../../protocol/operator/operator-session.ts";
import { readClientFrame } from "../../protocol/operator/read-client-frame.ts";
import type { ServiceRecords } from "../../store/service-records.ts";
import type { StoreView } from "../../store/view.ts";
import type { EventFeed } from "../state/event-feed.ts";
import type { ServiceLog } from "./service-log.ts";
import { hookAfter } from "./hook-after.ts";
import type { Leases } from "./leases.ts";
import { OpenRequests } from "./open-requests.ts";
import { RequestSender } from "./request-sender.ts";
import { nameRequest } from "./request-names.ts";
import { Roster } from "./roster.ts";
import { answererOf, type Request, type Session, sessionInfo } from "./session.ts";
import { SessionSocket, type SocketEvents } from "./session-socket.ts";
import type { SigningKey } from "./signing-key.ts";
import { takeReply } from "./take-reply.ts";
import { issueTicket, redeemTicket } from "./tickets.ts";

export interface OperatorHubOptions {
  readonly records: ServiceRecords;
  /** Resolves when what was queued is on disk. */
  readonly committed: () => Promise<void>;
  readonly view: StoreView;
  readonly feed: Pick<EventFeed, "subscribe">;
  readonly engine: Pick<Tasks, "deliver">;
  readonly clock: Clock;
  readonly leases: Leases;
  readonly signingKey: SigningKey;
  /** Where workers reach the daemon. */
  readonly baseUrl: () => string;
  readonly log: ServiceLog;
  readonly pingMs?: number;
  /** A peer that gave no sign of life for so long is dropped. */
  readonly silenceMs?: number;
  readonly sweepMs?: number;
  /** How long a session is kept that nobody uses. */
  readonly idleMs?: number;
}

export type Joining =
  | { readonly ok: true; readonly sid: string; readonly token: string; readonly roles: string[] }
  | { readonly ok: false; readonly conflicts: string[] };

const hour = 60 * 60 * 1000;
/** How long closing waits for the connections to say goodbye. */
const farewell = 1_000;

export class OperatorHub {
  readonly #options: OperatorHubOptions;
  readonly #roster: Roster;
  readonly #requests: OpenRequests;
  readonly #sender: RequestSender;
  readonly #startedAt: number;
  readonly #offs: (() => void)[] = [];
  readonly #sockets = new Set<SessionSocket>();
  readonly #holders = new WeakMap<SessionSocket, Session>();
  readonly #socketEvents: SocketEvents;
  #droppedAt = 0;
  #closed = false;

  /** To be made when the engine has recovered. */
  constructor(options: OperatorHubOptions) {
    const { records, view, feed, clock } = options;
    this.#options = options;
    this.#startedAt = clock.now();
    this.#roster = new Roster(records, clock);
    this.#requests = new OpenRequests(view);
    this.#sender = new RequestSender({ ...options, requests: this.#requests });
    this.#socketEvents = {
      onText: (socket, text) => this.#read(socket, text),
      onClose: (socket) => this.#gone(socket),
      now: () => clock.now(),
    };
    // Subscribed and read in the same tick: what is opened from now on is told, the rest is in the store.
    this.#offs.push(feed.subscribe((events) => events.forEach(({ event }) => this.#hear(event))));
    for (const row of view.openWaits()) this.#open(row.id);
    this.#every(options.pingMs ?? 30_000, () => this.#ping());
    this.#every(options.sweepMs ?? 60_000, () => this.#sweep());
  }

  // ---- sessions

  /** The session is durable when this resolves. `by` is the id of the key it joins with. */
  async join(roles: readonly string[], by: string): Promise<Joining> {
    const joined = this.#roster.join(roles, by);
    if (!joined.ok) return joined;
    const { session, token } = joined;
    await this.#options.committed();
    const { sid } = session.row;
    this.#options.log.info({ sid, roles: session.row.roles, by }, "an operator joined");
    for (const name of [sid, ...session.row.roles]) this.#routeLoose(name);
    return { ok: true, sid, token, roles: [...session.row.roles] };
  }

  list(): OperatorInfo[] {
    return this.#roster.all().map(sessionInfo);
  }

  info(sid: string): OperatorInfo | undefined {
    const session = this.#roster.get(sid);
    return session === undefined ? undefined : sessionInfo(session);
  }

  /** In constant time. */
  authenticates(sid: string, bearer: string): "yes" | "no" | "unknown_sid" {
    return this.#roster.authenticates(sid, bearer);
  }

  issueTicket(sid: string): Promise<OperatorTicket> {
    return issueTicket(this.#options, sid);
  }

  redeemTicket(sid: string, ticket: string): Promise<boolean> {
    return redeemTicket(this.#options, { sid, ticket });
  }

  /** False when there is no such session. What waits for it is refused, or offered to another that fits. */
  async leave(sid: string, reason: string): Promise<boolean> {
    const session = this.#roster.get(sid);
    if (session === undefined) return false;
    this.#roster.remove(session);
    const held = [...session.requests.values()].toSorted((a, b) => a.id - b.id);
    session.requests.clear();
    // All of it is queued in this tick: the session is gone and what it held is refused, or neither.
    const refusals = held.map((request) => this.#release(request, session, reason));
    await Promise.all([...refusals, this.#options.committed()]);
    session.socket?.close(1000, "operator session torn down");
    this.#options.log.info({ sid, reason }, "an operator left");
    return true;
  }

  /** Whoever joined with this key has no right to be here any more. */
  async revoked(api_key: string): Promise<void> {
    const theirs = this.#roster.all().filter(({ row }) => row.api_key === api_key);
    await Promise.all(theirs.map(({ row }) => this.leave(row.sid, "its key was revoked")));
  }

  async #release(request: Request, session: Session, reason: string): Promise<void> {
    const { engine, view, leases } = this.#options;
    const wait = askName(view.salt, request.id);
    const why = `the operator ${session.row.sid} left: ${reason}`;
    const by = answererOf(session);
    if (request.kind === "hook_before") {
      await engine.deliver(wait, { ok: false, reason: why } satisfies HookVerdict, by);
    } else if (
      request.kind === "spawn" &&
      request.address === session.row.sid &&
      !leases.isTaken(request.taskRow, request.attempt)
    ) {
      // Nobody else will ever have that sid.
      await engine.deliver(wait, { value: null, ok: false, error: why } satisfies SpawnAnswer, by);
    } else {
      if (request.kind === "spawn") leases.takenBack(request.taskRow, request.attempt);
      request.session = undefined;
      request.sent = false;
      this.#route(request);
    }
  }

  // ---- connections

  /** An upgraded socket of an operator that has been authenticated. A newer one takes over. */
  connect(sid: string, socket: WebSocket): void {
    const connection = new SessionSocket(socket, this.#socketEvents);
    const session = this.#roster.get(sid);
    if (session === undefined || this.#closed) {
      connection.close(this.#closed ? 1001 : 1000, this.#closed ? "going away" : "operator session torn down");
      return;
    }
    const before = session.socket;
    session.socket = connection;
    this.#sockets.add(connection);
    this.#holders.set(connection, session);
    before?.close(4001, "replaced by a newer connection");
    this.#safely(() => this.#roster.seen(session));
    this.#routeLoose(anyOperator);
    this.#sender.deliver(session);
  }

  #gone(socket: SessionSocket): void {
    this.#sockets.delete(socket);
    const session = this.#holders.get(socket);
    // An older connection that ends late must not take the newer one with it.
    if (session === undefined || session.socket !== socket) return;
    session.socket = undefined;
    if (this.#closed || this.#roster.get(session.row.sid) !== session) return;
    this.#safely(() => this.#roster.seen(session));
    for (const request of session.requests.values()) {
      // It has not gone out: whoever else is there may have it.
      if (request.sent || request.address !== anyOperator) continue;
      session.requests.delete(request.id);
      this.#route(request);
    }
  }

  #read(socket: SessionSocket, text: string): void {
    const session = this.#holders.get(socket);
    if (session === undefined || session.socket !== socket || this.#roster.get(session.row.sid) !== session) return;
    const read = readClientFrame(text);
    if (!read.ok) {
      socket.tell(read.error);
      return;
    }
    takeReply(this.#options, session, read.frame).then(
      (error) => {
        if (error !== undefined) socket.tell(error);
      },
      (thrown: unknown) => {
        // The engine stops: the request stays open and goes out again.
        this.#options.log.warn({ sid: session.row.sid, err: toTuttiError(thrown) }, "a reply could not be taken");
        socket.drop();
      },
    );
  }

  // ---- requests

  #hear(event: TaskEvent): void {
    switch (event.type) {
      case "wait.opened":
        if (isOperatorLabel(event.data.label) && event.data.label !== operatorLabel("result")) {
          this.#open(this.#idOf(event.data.wait));
        }
        return;
      case "wait.reopened":
        this.#reopen(this.#idOf(event.data.wait));
        return;
      case "ask.raised":
        this.#open(this.#idOf(event.data.ask.id));
        return;
      case "ask.reopened":
        this.#reopen(this.#idOf(event.data.ask));
        return;
      case "wait.settled":
        this.#requests.settle(this.#idOf(event.data.wait));
        return;
      case "ask.answered":
      case "ask.expired":
      case "ask.withdrawn":
        this.#requests.settle(this.#idOf(event.data.ask));
        return;
      case "task.completed":
      case "task.failed":
      case "task.canceled":
        if (this.#sockets.size > 0) this.#tellGate(event);
        return;
      default:
    }
  }

  #idOf(name: string): number {
    return idInName(this.#options.view.salt, name) ?? 0;
  }

  #open(id: number): void {
    const { view, records } = this.#options;
    const row = view.wait(id);
    const request = row === undefined ? undefined : this.#requests.take(row);
    if (request === undefined) return;
    const sentTo = records.sent(id)?.sid;
    const session = sentTo === undefined ? undefined : this.#roster.get(sentTo);
    request.sent = session !== undefined;
    if (session === undefined) this.#route(request);
    else this.#give(request, session);
  }

  #reopen(id: number): void {
    for (const socket of this.#sockets) socket.sent.delete(id);
    this.#open(id);
  }

  #route(request: Request): void {
    const { kind, taskRow, attempt, address } = request;
    // A worker is at it already; its lease decides what comes next.
    if (kind === "spawn" && this.#options.leases.isTaken(taskRow, attempt)) return;
    const session = this.#roster.find(address);
    if (session === undefined) this.#requests.lay(request);
    else this.#give(request, session);
  }

  #routeLoose(address: string): void {
    for (const request of this.#requests.looseFor(address)) this.#route(request);
  }

  #give(request: Request, session: Session): void {
    this.#requests.give(request, session);
    this.#sender.deliver(session);
  }

  #tellGate(event: TaskEvent): void {
    const { view, records, signingKey } = this.#options;
    const gated = hookAfter(view, event);
    if (gated === undefined) return;
    const asked = records.sent(gated.wait)?.sid;
    const session = (asked === undefined ? undefined : this.#roster.get(asked)) ?? this.#roster.find(gated.operator);
    if (session?.socket === undefined) return;
    const req_id = nameRequest({ sid: session.row.sid, kind: "hook_after", id: event.seq }, signingKey);
    session.socket.send({ ...gated.frame, req_id });
  }

  // ---- time

  #every(ms: number, work: () => void): void {
    let callOff = (): void => undefined;
    const arm = (): void => {
      callOff = this.#options.clock.timer(ms, () => {
        this.#safely(work);
        arm();
      });
    };
    arm();
    this.#offs.push(() => callOff());
  }

  /** For what nobody waits on: a store that has stopped is told by everything else. */
  #safely(work: () => void): void {
    try {
      work();
    } catch (thrown) {
      this.#options.log.warn({ err: toTuttiError(thrown) }, "the operators' records could not keep its records");
    }
  }

  #ping(): void {
    for (const socket of this.#sockets) socket.ping(this.#options.silenceMs ?? 75_000);
  }

  #sweep(): void {
    const { records, clock, leases, idleMs = 24 * hour } = this.#options;
    const now = clock.now();
    if (now - this.#droppedAt >= hour) {
      this.#droppedAt = now;
      records.dropHandles(now);
    }
    for (const session of this.#roster.all()) {
      const { socket, row, requests } = session;
      if (socket === undefined) {
        const idle = now - Math.max(row.seen_at, this.#startedAt);
        if (requests.size === 0 && idle >= idleMs) this.#roster.remove(session);
        continue;
      }
      if (now - row.seen_at >= hour) this.#roster.seen(session);
      for (const { id, kind, taskRow, attempt } of requests.values()) {
        // The token of an offer nobody took has ended: it goes out again with a fresh one.
        if (kind !== "spawn" || !socket.sent.has(id)) continue;
        const ends = leases.offerEnds(taskRow, attempt);
        if (ends !== undefined && ends <= now) socket.sent.delete(id);
      }
      this.#sender.deliver(session);
    }
  }

  /** Says farewell; sessions and what waits for them stay for the next start. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const off of this.#offs) off();
    for (const socket of this.#sockets) socket.close(1001, "going away");
    const until = Date.now() + farewell;
    while (this.#sockets.size > 0 && Date.now() < until) await new Promise((resolve) => setTimeout(resolve, 5));
    for (const socket of this.#sockets) socket.drop();
  }
}
