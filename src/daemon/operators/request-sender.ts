// Sends requests to the operator sessions they are assigned to: in order, recorded first, no faster than they are read.

import { askName } from "../../store/names.ts";
import type { Tasks } from "../../ports.ts";
import { toTuttiError } from "../../protocol/error.ts";
import type { SpawnAnswer } from "../../protocol/operator/operator-request.ts";
import type { ServiceRecords } from "../../store/service-records.ts";
import type { OpenRequests } from "./open-requests.ts";
import { type FrameContext, type RequestFrame, requestFrame } from "./request-frame.ts";
import type { ServiceLog } from "./service-log.ts";
import { answererOf, type OperatorSession, type PendingRequest } from "./session-state.ts";

export interface RequestSenderOptions extends FrameContext {
  readonly records: Pick<ServiceRecords, "putHandle" | "sent" | "putSent">;
  /** The request was sent to another operator session first. */
  readonly onSentElsewhere: (request: PendingRequest) => void;
  readonly requests: OpenRequests;
  readonly engine: Pick<Tasks, "deliver">;
  /** Resolves when everything queued so far is on disk. */
  readonly committed: () => Promise<void>;
  readonly log: ServiceLog;
}

const batchSize = 32;

export class RequestSender {
  readonly #options: RequestSenderOptions;

  constructor(options: RequestSenderOptions) {
    this.#options = options;
  }

  /** Sends what is assigned to the operator session and was not sent over its connection yet. Does not wait for it. */
  deliver(session: OperatorSession): void {
    session.recheck = true;
    if (session.sending || session.connection === undefined) return;
    session.sending = true;
    this.#sendAll(session)
      .catch((thrown: unknown) => {
        // Nothing is lost: what was not sent goes out over the next connection.
        const { sid } = session.row;
        this.#options.log.warn({ sid, err: toTuttiError(thrown) }, "sending requests to an operator failed");
        session.recheck = false;
        session.connection?.terminate();
      })
      .finally(() => {
        session.sending = false;
        if (session.recheck && session.connection !== undefined) this.deliver(session);
      });
  }

  async #sendAll(session: OperatorSession): Promise<void> {
    while (session.recheck && session.connection !== undefined) {
      const { connection } = session;
      session.recheck = false;
      // It is closing, which may take long; the next connection gets everything.
      if (!connection.isOpen) return;
      const batch = [...session.requests.values()]
        .filter((request) => !connection.sentWaits.has(request.id) && !this.#isTaken(request))
        .toSorted((a, b) => a.id - b.id)
        .slice(0, batchSize);
      if (batch.length === 0) return;
      session.recheck = true;
      await this.#sendBatch(session, batch);
      await connection.drained();
    }
  }

  async #sendBatch(session: OperatorSession, batch: readonly PendingRequest[]): Promise<void> {
    const { records, clock, committed, reads, requests, onSentElsewhere } = this.#options;
    const { connection } = session;
    const { sid } = session.row;
    const built = await Promise.all(
      batch.map(async (request) => ({ request, built: await this.#build(request, session) })),
    );
    const isAssigned = (request: PendingRequest): boolean =>
      requests.get(request.id) === request && request.session === session;
    const assigned = built.filter(({ request }) => isAssigned(request));
    for (const { request, built: made } of assigned) {
      records.putSent({ wait: request.id, sid, at: clock.now() });
      request.recorded = true;
      made?.offer?.record();
    }
    await committed();
    const waiting = new Set((await reads.unsettled(assigned.map(({ request }) => request.id))).map(({ id }) => id));
    for (const { request, built: made } of assigned) {
      if (session.connection !== connection || connection === undefined || !connection.isOpen) return;
      // It was settled, or assigned to another operator session, while the rows were written.
      if (!isAssigned(request)) continue;
      if (records.sent(request.id)?.sid !== sid) {
        onSentElsewhere(request);
        continue;
      }
      // A worker took the task meanwhile, or these rights are void: the next round decides anew.
      if (made?.offer !== undefined && !this.#options.leases.offerStands(made.offer.rights)) continue;
      connection.sentWaits.add(request.id);
      if (made === undefined || !waiting.has(request.id)) continue;
      request.sent = true;
      if (!connection.send(made.frame)) return;
    }
  }

  /** If the frame cannot be built, a spawn fails instead of waiting for nothing. An ask can still be answered by a person. */
  async #build(request: PendingRequest, session: OperatorSession): Promise<RequestFrame | undefined> {
    const { engine, reads, log } = this.#options;
    try {
      return await requestFrame(this.#options, request, session.row);
    } catch (thrown) {
      const { message, retry } = toTuttiError(thrown);
      // The records cannot be read at the moment: it is sent later.
      if (retry !== "never") throw thrown;
      log.warn({ task: request.task, err: thrown }, "the frame of a request could not be built");
      if (request.kind === "spawn") {
        const value: SpawnAnswer = { value: null, ok: false, error: `it could not be offered: ${message}` };
        await engine.deliver(askName(reads.salt, request.id), value, answererOf(session));
      }
      return undefined;
    }
  }

  /** An operator that reconnects must not launch a second worker. */
  #isTaken({ kind, taskRow, attempt }: PendingRequest): boolean {
    return kind === "spawn" && this.#options.leases.isTaken(taskRow, attempt);
  }
}
