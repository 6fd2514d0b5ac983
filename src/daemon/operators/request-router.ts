// Decides which operator session each open request goes to, and moves it on when that operator session ends.

import { type Salt, askName } from "../../store/names.ts";
import type { Tasks } from "../../ports.ts";
import type { HookVerdict, SpawnAnswer } from "../../protocol/operator/operator-request.ts";
import { anyOperator } from "../../protocol/operator/operator-name.ts";
import type { ServiceRecords } from "../../store/service-records.ts";
import type { Leases } from "./leases.ts";
import type { OpenRequests } from "./open-requests.ts";
import type { OperatorConnections } from "./operator-connections.ts";
import type { OperatorSessions } from "./operator-sessions.ts";
import type { RequestSender } from "./request-sender.ts";
import { answererOf, type OperatorSession, type PendingRequest } from "./session-state.ts";

export interface RequestRouterOptions {
  readonly records: Pick<ServiceRecords, "sent" | "removeSent">;
  /** Of the names that the store gives. */
  readonly salt: Salt;
  readonly engine: Pick<Tasks, "deliver">;
  readonly leases: Leases;
  readonly sessions: OperatorSessions;
  readonly requests: OpenRequests;
  readonly connections: OperatorConnections;
  readonly sender: RequestSender;
}

export class RequestRouter {
  readonly #options: RequestRouterOptions;

  constructor(options: RequestRouterOptions) {
    this.#options = options;
  }

  /** A request that was sent before stays with the operator session it was sent to, as long as that exists. */
  open(request: PendingRequest): void {
    if (!this.#options.requests.add(request)) return;
    request.sent = this.#sentTo(request) !== undefined;
    this.#route(request);
  }

  /** Its wait is settled: nobody is asked any more. */
  close(wait: number): void {
    this.#options.requests.remove(wait);
  }

  /** Its wait was settled and is open again: its request has to be sent again. */
  forgetSent(wait: number): void {
    this.#options.connections.forgetSent(wait);
  }

  /**
   * Another process sent it first. It stays with that operator session, which may connect here one day. If that has ended
   * since, it is sent after all.
   */
  onSentElsewhere(request: PendingRequest): void {
    request.session?.requests.delete(request.id);
    request.session = undefined;
    request.sent = this.#sentTo(request) !== undefined;
    this.#route(request);
  }

  /** What is recorded of whom the request was sent to has been removed: somebody else may have it. */
  onSentRemoved(wait: number): void {
    const request = this.#options.requests.get(wait);
    if (request === undefined || this.#sentTo(request) !== undefined) return;
    const { session } = request;
    // Those that an operator here has are seen to when it goes.
    if (session !== undefined && (session.connection !== undefined || request.address !== anyOperator)) return;
    session?.requests.delete(wait);
    request.session = undefined;
    request.sent = false;
    this.#route(request);
  }

  /** An operator session joined elsewhere. */
  routeAllUnassigned(): void {
    for (const address of this.#options.requests.unassignedAddresses()) this.routeUnassigned(address);
  }

  /** Somebody may be there now for the requests that wait for this address. */
  routeUnassigned(address: string): void {
    for (const request of this.#options.requests.unassignedFor(address)) this.#route(request);
  }

  /**
   * The operator session has ended. Its gates refuse, a spawn for its sid fails, and everything else waits for another
   * operator. All of it is queued in this tick, so that it is in the same commit as the end of the operator session.
   */
  release(session: OperatorSession, reason: string): Promise<void>[] {
    const released = inOrder(session.requests.values());
    session.requests.clear();
    return released.map((request) => this.#release(request, session, reason));
  }

  /**
   * The operator session was ended by another process, which has seen to the requests that it knew of. What was sent to
   * that session is released here too; of two answers the first counts. Everything else waits for another operator.
   */
  releaseEndedElsewhere(session: OperatorSession): Promise<void>[] {
    const released = inOrder(session.requests.values());
    session.requests.clear();
    const { sid } = session.row;
    return released.map(async (request) => {
      if (this.#options.records.sent(request.id)?.sid === sid) {
        return this.#release(request, session, "it was ended through another node");
      }
      request.session = undefined;
      request.sent = false;
      this.#route(request);
    });
  }

  /** The operator has lost its connection: a request for `any` that was not sent yet may go to another operator. */
  moveUnsent(session: OperatorSession): void {
    for (const request of session.requests.values()) {
      if (request.sent || request.address !== anyOperator) continue;
      session.requests.delete(request.id);
      if (!request.recorded) {
        this.#route(request);
        continue;
      }
      // It was recorded as sent just before the connection was lost.
      this.#takeBack(request, session.row.sid);
      this.#place(request);
    }
  }

  async #release(request: PendingRequest, session: OperatorSession, reason: string): Promise<void> {
    const { engine, salt, leases } = this.#options;
    const { kind, taskRow, attempt } = request;
    const wait = askName(salt, request.id);
    const why = `the operator ${session.row.sid} left: ${reason}`;
    const by = answererOf(session);
    if (kind === "hook_before") {
      await engine.deliver(wait, { ok: false, reason: why } satisfies HookVerdict, by);
    } else if (kind === "spawn" && request.address === session.row.sid && !leases.isTaken(taskRow, attempt)) {
      // No operator will ever have that sid again.
      await engine.deliver(wait, { value: null, ok: false, error: why } satisfies SpawnAnswer, by);
    } else {
      this.#takeBack(request, session.row.sid);
      request.session = undefined;
      request.sent = false;
      this.#place(request);
    }
  }

  #route(request: PendingRequest): void {
    const { records, sessions } = this.#options;
    const sid = records.sent(request.id)?.sid;
    const sentTo = sid === undefined ? undefined : sessions.get(sid);
    if (sentTo !== undefined) return this.#assign(request, sentTo);
    // That operator session was ended by a process that did not know of this request.
    if (sid !== undefined) this.#takeBack(request, sid);
    this.#place(request);
  }

  #place(request: PendingRequest): void {
    const { leases, sessions, requests } = this.#options;
    // If a worker has the task already, its lease decides what comes next.
    if (request.kind === "spawn" && leases.isTaken(request.taskRow, request.attempt)) return;
    const session = sessions.find(request.address);
    if (session === undefined) requests.unassign(request);
    else this.#assign(request, session);
  }

  /** The operator session that it is recorded as sent to, if that still exists. */
  #sentTo({ id }: PendingRequest): OperatorSession | undefined {
    const sid = this.#options.records.sent(id)?.sid;
    return sid === undefined ? undefined : this.#options.sessions.get(sid);
  }

  /** What was offered to that operator session is void, and the request can be sent to another one. */
  #takeBack({ id: wait, kind, taskRow, attempt }: PendingRequest, sid: string): void {
    const { leases, records } = this.#options;
    if (kind === "spawn") leases.voidOffer(taskRow, attempt, { wait, sid });
    records.removeSent(wait, sid);
  }

  #assign(request: PendingRequest, session: OperatorSession): void {
    this.#options.requests.assign(request, session);
    this.#options.sender.deliver(session);
  }
}

function inOrder(requests: Iterable<PendingRequest>): PendingRequest[] {
  return [...requests].toSorted((a, b) => a.id - b.id);
}
