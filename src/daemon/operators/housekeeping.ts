// What has to be done for operators now and then: pings, ending unused operator sessions, renewing offers that expired.

import type { Clock } from "../../ports.ts";
import { toTuttiError } from "../../protocol/error.ts";
import { parseJson } from "../../protocol/json/parse-json.ts";
import { TokenClaims } from "../../protocol/operator/capability-token.ts";
import { idInName } from "../../store/names.ts";
import type { HandleRow, ServiceRecords } from "../../store/service-records.ts";
import type { OperatorReads } from "../../store/reads-for-operators.ts";
import type { Leases } from "./leases.ts";
import type { OperatorConnections } from "./operator-connections.ts";
import type { OperatorSessions } from "./operator-sessions.ts";
import type { RequestSender } from "./request-sender.ts";
import { runLogged, type ServiceLog } from "./service-log.ts";
import type { OperatorSession } from "./session-state.ts";

export interface HousekeepingTimes {
  readonly pingMs?: number;
  /** An operator that gave no sign of life for so long is disconnected. */
  readonly maxSilenceMs?: number;
  readonly sweepMs?: number;
  /** An operator session that nobody used for so long is removed. */
  readonly maxIdleMs?: number;
}

export interface HousekeepingOptions extends HousekeepingTimes {
  readonly records: Pick<ServiceRecords, "expiredHandles" | "dropHandle">;
  readonly reads: Pick<OperatorReads, "salt" | "isOver">;
  readonly clock: Clock;
  readonly leases: Leases;
  readonly log: ServiceLog;
  readonly sessions: OperatorSessions;
  readonly connections: OperatorConnections;
  readonly sender: RequestSender;
}

const hourMs = 60 * 60 * 1000;

/** Returns a function that stops it. */
export function startHousekeeping(options: HousekeepingOptions): () => void {
  const { clock, log, connections, pingMs = 30_000, maxSilenceMs = 75_000, sweepMs = 60_000 } = options;
  const startedAt = clock.now();
  const dropExpiredHandles = hourly(options);
  const sweep = (): void => {
    dropExpiredHandles();
    for (const session of options.sessions.known()) {
      if (session.connection === undefined) removeIfIdle(options, session, startedAt);
      else refresh(options, session);
    }
  };
  const stops = [
    every(clock, pingMs, () => runLogged(log, "pinging operators", () => connections.ping(maxSilenceMs))),
    every(clock, sweepMs, () => runLogged(log, "housekeeping of operator sessions", sweep)),
  ];
  return () => stops.forEach((stop) => stop());
}

function every(clock: Clock, ms: number, work: () => void): () => void {
  let cancel = (): void => undefined;
  const arm = (): void => {
    cancel = clock.timer(ms, () => {
      work();
      arm();
    });
  };
  arm();
  return () => cancel();
}

/** Several nodes may do this at the same time: a handle that is gone is not there to be dropped. */
function hourly({ records, reads, clock, log }: HousekeepingOptions): () => void {
  let lastAt = 0;
  const drop = async (handles: readonly HandleRow[]): Promise<void> => {
    for (const handle of handles) if (await isOver(reads, handle)) records.dropHandle(handle.digest);
  };
  return () => {
    const now = clock.now();
    if (now - lastAt < hourMs) return;
    lastAt = now;
    drop(records.expiredHandles(now)).catch((thrown: unknown) => {
      log.warn({ err: toTuttiError(thrown) }, "dropping the expired handles of workers failed");
    });
  };
}

/** While the task is not over, its worker may still post a late result with the handle. */
async function isOver(reads: HousekeepingOptions["reads"], { claims }: HandleRow): Promise<boolean> {
  const task = TokenClaims.safeParse(parseJson(claims)).data?.task;
  const id = task === undefined ? undefined : idInName(reads.salt, task);
  return id === undefined || reads.isOver(id);
}

/** Time in which no daemon was running does not count. */
function removeIfIdle(options: HousekeepingOptions, session: OperatorSession, startedAt: number): void {
  const { clock, sessions, maxIdleMs = 24 * hourMs } = options;
  const idleMs = clock.now() - Math.max(session.row.seen_at, startedAt);
  if (session.requests.size === 0 && idleMs >= maxIdleMs) sessions.removeIdle(session);
}

/** Records that the operator is still there, and offers a spawn again whose rights expired before a worker took it. */
function refresh({ clock, sessions, leases, sender }: HousekeepingOptions, session: OperatorSession): void {
  const now = clock.now();
  if (now - session.row.seen_at >= hourMs) sessions.touch(session);
  for (const { id, kind, taskRow, attempt } of session.requests.values()) {
    if (kind !== "spawn" || session.connection?.sentWaits.has(id) !== true) continue;
    const expiresAt = leases.offerExpiresAt(taskRow, attempt);
    if (expiresAt !== undefined && expiresAt <= now) session.connection.sentWaits.delete(id);
  }
  sender.deliver(session);
}
