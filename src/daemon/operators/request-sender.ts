// Brings requests to the operators that hold them: in order, what they carry on disk first, no faster than they read.

import { askName } from "../../store/names.ts";
import type { Tasks } from "../../ports.ts";
import { toTuttiError } from "../../protocol/error.ts";
import type { ServerFrame } from "../../protocol/operator/frames.ts";
import type { SpawnAnswer } from "../../protocol/operator/operator-request.ts";
import type { ServiceRecords } from "../../store/service-records.ts";
import type { StoreView } from "../../store/view.ts";
import type { ServiceLog } from "./service-log.ts";
import { makeFrame, type FrameMaker } from "./make-frame.ts";
import { answererOf, type Request, type Session } from "./session.ts";

export interface RequestSenderOptions extends FrameMaker {
  readonly records: Pick<ServiceRecords, "putHandle" | "putSent">;
  readonly view: StoreView;
  readonly engine: Pick<Tasks, "deliver">;
  readonly committed: () => Promise<void>;
  readonly log: ServiceLog;
}

const batchSize = 32;

export class RequestSender {
  readonly #options: RequestSenderOptions;

  constructor(options: RequestSenderOptions) {
    this.#options = options;
  }

  /** Sends what the session holds and this connection has not seen. */
  deliver(session: Session): void {
    session.stale = true;
    if (session.pumping || session.socket === undefined) return;
    session.pumping = true;
    this.#pump(session)
      .catch((thrown: unknown) => {
        // Nothing is lost: it goes out again over the next connection.
        this.#options.log.warn({ sid: session.row.sid, err: toTuttiError(thrown) }, "requests could not be sent");
        session.stale = false;
        session.socket?.drop();
      })
      .finally(() => {
        session.pumping = false;
        if (session.stale && session.socket !== undefined) this.deliver(session);
      });
  }

  async #pump(session: Session): Promise<void> {
    while (session.stale && session.socket !== undefined) {
      const { socket } = session;
      session.stale = false;
      // On its way out, and perhaps for long: the connection after it is told.
      if (!socket.isOpen) return;
      const batch = [...session.requests.values()]
        .filter((request) => !socket.sent.has(request.id) && !this.#isTaken(request))
        .toSorted((a, b) => a.id - b.id)
        .slice(0, batchSize);
      if (batch.length === 0) return;
      session.stale = true;
      await this.#send(session, batch);
      await socket.drained();
    }
  }

  async #send(session: Session, batch: readonly Request[]): Promise<void> {
    const { records, clock, committed, view, requests } = this.#options;
    const { socket } = session;
    const { sid } = session.row;
    const made = await Promise.all(
      batch.map(async (request) => ({ request, frame: await this.#make(request, session) })),
    );
    // Whoever holds a request now says whom it went to last.
    const held = made.filter(({ request }) => request.session === session);
    for (const { request } of held) records.putSent({ wait: request.id, sid, at: clock.now() });
    await committed();
    for (const { request, frame } of held) {
      if (session.socket !== socket || socket === undefined || !socket.isOpen) return;
      // Settled, or given to another, while the rows were written.
      if (!requests.has(request.id) || request.session !== session) continue;
      socket.sent.add(request.id);
      if (frame === undefined || view.answer(request.id) !== undefined) continue;
      request.sent = true;
      if (!socket.send(frame)) return;
    }
  }

  /** A request whose frame cannot be made is not left to wait for nothing: a spawn fails, an ask stays with the people. */
  async #make(request: Request, session: Session): Promise<ServerFrame | undefined> {
    const { engine, view, log } = this.#options;
    try {
      return await makeFrame(this.#options, request, session.row.sid);
    } catch (thrown) {
      const { message } = toTuttiError(thrown);
      log.warn({ task: request.task, err: thrown }, "a request cannot be sent");
      if (request.kind === "spawn") {
        const value: SpawnAnswer = { value: null, ok: false, error: `it could not be offered: ${message}` };
        await engine.deliver(askName(view.salt, request.id), value, answererOf(session));
      }
      return undefined;
    }
  }

  /** A worker is at it: an operator that reconnects must not launch another. */
  #isTaken({ kind, taskRow, attempt }: Request): boolean {
    return kind === "spawn" && this.#options.leases.isTaken(taskRow, attempt);
  }
}
