// One operator's session: who it is, what waits for it, and the connection it has now.

import type { TaskId } from "../../protocol/ids.ts";
import type { OperatorInfo } from "../../protocol/operator/operator-session.ts";
import type { RequestKind } from "../../protocol/operator/request-id.ts";
import type { OperatorRow } from "../../store/service-records.ts";
import type { SessionSocket } from "./session-socket.ts";

export interface Request {
  /** Of its wait; requests are in the order of their ids. */
  readonly id: number;
  readonly kind: RequestKind;
  /** A name, a sid, or `any`. */
  readonly address: string;
  readonly task: TaskId;
  readonly taskRow: number;
  /** Empty and 0 for an ask, whose frame says neither. */
  readonly agent: string;
  readonly attempt: number;
  readonly due: number;
  session: Session | undefined;
  /** A frame has gone out, to whichever connection. */
  sent: boolean;
}

export interface Session {
  row: OperatorRow;
  /** What waits for it, by wait. */
  readonly requests: Map<number, Request>;
  socket: SessionSocket | undefined;
  /** Frames are being sent; whatever is new meanwhile goes out when that is done. */
  pumping: boolean;
  stale: boolean;
}

export function newSession(row: OperatorRow): Session {
  return { row, requests: new Map(), socket: undefined, pumping: false, stale: false };
}

export function spawnsOf({ requests }: Session): number {
  let count = 0;
  for (const { kind } of requests.values()) if (kind === "spawn") count += 1;
  return count;
}

export function sessionInfo({ row, requests, socket }: Session): OperatorInfo {
  const { sid, roles, created_at, seen_at } = row;
  return {
    sid,
    roles: [...roles],
    connected: socket?.isOpen === true,
    pending: requests.size,
    joined_at: created_at,
    last_seen: Math.max(seen_at, socket?.heardAt ?? 0),
  };
}

/** How it is named as the giver of an answer. */
export function answererOf({ row }: Session): { readonly kind: "operator"; readonly name: string } {
  return { kind: "operator", name: [...row.roles, row.sid].join(" ") };
}
