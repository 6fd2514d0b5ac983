// The one sequence of events: gives committed batches their places, and tells when any node has done so.

import type pg from "pg";

import { ask, endConnection, type Reads, type Row } from "./database-connection.ts";
import { isLostConnection } from "./storage-error.ts";

/** While another node gives places, it may not see our batch: look again after so long. */
const lookAgainMs = 3;
/** Batches that follow each other quickly get their places together. Nobody sees an event later than by this time. */
const togetherMs = 5;
/** A batch whose node died before it was given its place is found by the others within this time. */
const sweepMs = 500;

export interface Stamper {
  /** There is a new batch. */
  due(): void;
  close(): void;
}

/** Resolves when everything that was committed before has its place. */
export async function stampAll(reads: Pick<Reads, "rows">): Promise<void> {
  for (;;) {
    const [row] = await reads.rows("SELECT stamp() AS stamped");
    if (row?.["stamped"] !== null) return;
    await new Promise((resolve) => setTimeout(resolve, lookAgainMs));
  }
}

/**
 * `client`: a connection that comes back by itself; rejects while the database is away. Without an answer for `answerMs` it
 * is ended, so that there is another one: a server that is gone without a word is noticed here, for everybody who uses it.
 */
export function stamper(client: () => Promise<pg.Client>, answerMs = 10_000): Stamper {
  let [busy, again, closed] = [false, false, false];
  let last = -Infinity;
  const wait = (ms: number): Promise<void> => new Promise((resolve) => void setTimeout(resolve, ms).unref());
  const stamp = async (): Promise<Row | undefined> => {
    const connection = await client();
    try {
      const [row] = await ask(connection, "SELECT stamp() AS stamped", [], { name: "stamp", timeoutMs: answerMs });
      return row;
    } catch (thrown) {
      if (isLostConnection(thrown)) await endConnection(connection);
      throw thrown;
    }
  };
  const stampAll = async (): Promise<void> => {
    for (again = true; again && !closed;) {
      const early = last + togetherMs - performance.now();
      if (early > 0) await wait(early);
      again = false;
      last = performance.now();
      const row = await stamp();
      if (row?.["stamped"] !== null) continue;
      again = true;
      await wait(lookAgainMs);
    }
  };
  const due = (): void => {
    again = true;
    if (busy || closed) return;
    busy = true;
    stampAll()
      // The database is away: the next commit or the next sweep tries again.
      .catch(() => undefined)
      .finally(() => {
        busy = false;
        if (again && !closed) setTimeout(due, lookAgainMs).unref();
      });
  };
  const sweep = setInterval(due, sweepMs).unref();
  return {
    due,
    close() {
      closed = true;
      clearInterval(sweep);
    },
  };
}
