// Decides which operator session each open request goes to, and moves it on when that operator session ends.

import { askName, idInName } from "../../store/names.ts";
import type { Tasks } from "../../ports.ts";
import type { TaskEvent } from "../../protocol/task/event.ts";
import type { HookVerdict, SpawnAnswer } from "../../protocol/operator/operator-request.ts";
import { isOperatorLabel, operatorLabel } from "../../protocol/operator/operator-waits.ts";
import { anyOperator } from "../../protocol/operator/operator-name.ts";
import type { ServiceRecords } from "../../store/service-records.ts";
import type { Leases } from "./leases.ts";
import type { OpenRequests } from "./open-requests.ts";
import type { OperatorConnections } from "./operator-connections.ts";
import type { OperatorSessions } from "./operator-sessions.ts";
import type { RequestSender } from "./request-sender.ts";
import { answererOf, type OperatorSession, type PendingRequest } from "./session-state.ts";
import type { Store } from "../../store/store.ts";

export interface RequestRouterOptions {
  readonly records: Pick<ServiceRecords, "sent" | "removeSent">;
  readonly store: Store;
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

  /** Follows the waits of all tasks: those that are opened, opened again, and settled. */
  onEvent(event: TaskEvent): void {
    const { requests } = this.#options;
    switch (event.type) {
      case "wait.opened":
        if (isOperatorLabel(event.data.label) && event.data.label !== operatorLabel("result")) {
          this.open(this.#idOf(event.data.wait));
        }
        return;
      case "wait.reopened":
        this.#reopen(this.#idOf(event.data.wait));
        return;
      case "ask.raised":
        this.open(this.#idOf(event.data.ask.id));
        return;
      case "ask.reopened":
        this.#reopen(this.#idOf(event.data.ask));
        return;
      case "wait.settled":
        requests.remove(this.#idOf(event.data.wait));
        return;
      case "ask.answered":
      case "ask.expired":
      case "ask.withdrawn":
        requests.remove(this.#idOf(event.data.ask));
        return;
      default:
    }
  }

  /** A request that was sent before stays with the operator session it was sent to, as long as that exists. */
  open(wait: number): void {
    const { store, records, requests, sessions } = this.#options;
    const row = store.waitById(wait);
    const request = row === undefined ? undefined : requests.add(row);
    if (request === undefined) return;
    const sentTo = records.sent(wait)?.sid;
    const session = sentTo === undefined ? undefined : sessions.get(sentTo);
    request.sent = session !== undefined;
    if (session === undefined) this.#route(request);
    else this.#assign(request, session);
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

  /** The operator has lost its connection: a request for `any` that was not sent yet may go to another operator. */
  moveUnsent(session: OperatorSession): void {
    for (const request of session.requests.values()) {
      if (request.sent || request.address !== anyOperator) continue;
      session.requests.delete(request.id);
      // It may have been recorded as sent just before the connection was lost.
      this.#options.records.removeSent(request.id, session.row.sid);
      this.#route(request);
    }
  }

  async #release(request: PendingRequest, session: OperatorSession, reason: string): Promise<void> {
    const { engine, store, leases } = this.#options;
    const { kind, taskRow, attempt } = request;
    const wait = askName(store.salt, request.id);
    const why = `the operator ${session.row.sid} left: ${reason}`;
    const by = answererOf(session);
    if (kind === "hook_before") {
      await engine.deliver(wait, { ok: false, reason: why } satisfies HookVerdict, by);
    } else if (kind === "spawn" && request.address === session.row.sid && !leases.isTaken(taskRow, attempt)) {
      // No operator will ever have that sid again.
      await engine.deliver(wait, { value: null, ok: false, error: why } satisfies SpawnAnswer, by);
    } else {
      if (kind === "spawn") leases.voidOffer(taskRow, attempt);
      request.session = undefined;
      request.sent = false;
      this.#route(request);
    }
  }

  #reopen(wait: number): void {
    this.#options.connections.forgetSent(wait);
    this.open(wait);
  }

  #route(request: PendingRequest): void {
    const { leases, sessions, requests } = this.#options;
    // If a worker has the task already, its lease decides what comes next.
    if (request.kind === "spawn" && leases.isTaken(request.taskRow, request.attempt)) return;
    const session = sessions.find(request.address);
    if (session === undefined) requests.unassign(request);
    else this.#assign(request, session);
  }

  #assign(request: PendingRequest, session: OperatorSession): void {
    this.#options.requests.assign(request, session);
    this.#options.sender.deliver(session);
  }

  #idOf(name: string): number {
    return idInName(this.#options.store.salt, name) ?? 0;
  }
}

function inOrder(requests: Iterable<PendingRequest>): PendingRequest[] {
  return [...requests].toSorted((a, b) => a.id - b.id);
}
