// An operator session as this process sees it: its stored row, the requests assigned to it, and its connection.

import type { TaskId } from "../../protocol/ids.ts";
import type { OperatorInfo } from "../../protocol/operator/operator-session.ts";
import type { RequestKind } from "../../protocol/operator/request-id.ts";
import type { OperatorRow } from "../../store/service-records.ts";
import type { Place } from "./operator-places.ts";
import type { OperatorConnection } from "./operator-connection.ts";

/** A request that waits for an operator's reply. It is a wait of the engine; nothing in it is kept only here. */
export interface PendingRequest {
  /** The id of its wait. Requests are sent in the order of their ids. */
  readonly id: number;
  readonly kind: RequestKind;
  /** Whom it is for: a role, a sid, or `any`. */
  readonly address: string;
  readonly task: TaskId;
  readonly taskRow: number;
  /** Empty for an ask, whose frame names no agent. */
  readonly agent: string;
  /** 0 for an ask, whose frame names no attempt. */
  readonly attempt: number;
  readonly due: number;
  /** The operator session it is assigned to. */
  session: OperatorSession | undefined;
  /** A frame was sent to the operator session it is assigned to, over this connection or an earlier one. */
  sent: boolean;
  /** This process recorded to whom it is sent. If it is recorded and not so, another process sent it. */
  recorded: boolean;
}

export interface OperatorSession {
  /** A copy of the stored row, which decides whether the operator session exists. */
  row: OperatorRow;
  /** The requests assigned to it, by the id of their wait. */
  readonly requests: Map<number, PendingRequest>;
  connection: OperatorConnection | undefined;
  /** Of its connection, where there are several nodes. */
  place: Place | undefined;
  /** Frames are being sent. */
  sending: boolean;
  /** There may be more to send than was seen when the sending began. */
  recheck: boolean;
  /** Resolves when the replies that came so far have been looked up: that is done in the order in which they came. */
  replies: Promise<unknown>;
  /** By the id of its wait: the last reply to a request that is being delivered. */
  readonly delivering: Map<number, Promise<unknown>>;
}

const none: Promise<unknown> = Promise.resolve();

export function newOperatorSession(row: OperatorRow): OperatorSession {
  return {
    row,
    requests: new Map(),
    connection: undefined,
    place: undefined,
    sending: false,
    recheck: false,
    replies: none,
    delivering: new Map(),
  };
}

export function spawnCount({ requests }: OperatorSession): number {
  let count = 0;
  for (const { kind } of requests.values()) if (kind === "spawn") count += 1;
  return count;
}

export function operatorInfo({ row, requests, connection }: OperatorSession): OperatorInfo {
  const { sid, roles, created_at, seen_at } = row;
  return {
    sid,
    roles: [...roles],
    connected: connection?.isOpen === true,
    pending: requests.size,
    joined_at: created_at,
    last_seen: Math.max(seen_at, connection?.lastHeardAt ?? 0),
  };
}

/** How the operator is recorded as the one who gave an answer. */
export function answererOf({ row }: OperatorSession): { readonly kind: "operator"; readonly name: string } {
  return { kind: "operator", name: [...row.roles, row.sid].join(" ") };
}
