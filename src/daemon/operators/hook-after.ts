// Tells a gate that a task it agreed to has ended: at most once, and only over a connection that is open.

import { storedAnswerIn } from "../../engine/wait-body.ts";
import { idInName } from "../../store/names.ts";
import type { TreeOperators } from "../../protocol/invocation/invocation-file.ts";
import type { TaskEvent } from "../../protocol/task/event.ts";
import type { HookAfterFrame } from "../../protocol/operator/frames.ts";
import { HookVerdict } from "../../protocol/operator/operator-request.ts";
import { operatorKeys } from "../../protocol/operator/operator-waits.ts";
import type { ServiceRecords } from "../../store/service-records.ts";
import type { OperatorSessions } from "./operator-sessions.ts";
import { signRequestId } from "./signed-request-id.ts";
import type { SigningKey } from "./signing-key.ts";
import { requestDetails } from "./request-details.ts";
import type { OperatorReads } from "../../store/reads-for-operators.ts";
import type { WaitRow } from "../../store/store.ts";

/** Sockets are for control: a longer result is fetched over HTTP. */
const maxResultLength = 64 * 1024;

export interface HookAfterContext {
  readonly records: Pick<ServiceRecords, "sent">;
  readonly reads: OperatorReads;
  readonly sessions: OperatorSessions;
  readonly signingKey: Pick<SigningKey, "mac">;
  readonly operatorsOf: (root: number) => Promise<TreeOperators>;
  /** True for one caller only, on whichever node. */
  readonly claimOnce: (what: string) => Promise<boolean>;
}

export function endsTask({ type }: TaskEvent): boolean {
  return type === "task.completed" || type === "task.failed" || type === "task.canceled";
}

/** Does nothing for an event that ends no task, and for a task that no gate agreed to. */
export async function sendHookAfter(context: HookAfterContext, event: TaskEvent): Promise<void> {
  const { records, sessions, signingKey, claimOnce } = context;
  const outcome = outcomeIn(event);
  const agreed = outcome === undefined ? undefined : await agreementOf(context, event);
  if (outcome === undefined || agreed === undefined) return;
  const { wait, operator, agent, attempt } = agreed;
  const askedSid = records.sent(wait)?.sid;
  const session = (askedSid === undefined ? undefined : sessions.get(askedSid)) ?? sessions.find(operator);
  if (session?.connection === undefined) return;
  // The operator may be connected to two nodes for a moment.
  if (!(await claimOnce(`hook_after ${event.seq}`))) return;
  const req_id = signRequestId({ sid: session.row.sid, kind: "hook_after", id: event.seq }, signingKey);
  session.connection?.send({ type: "hook_after", req_id, task_id: event.task, agent, attempt, ...outcome });
}

function outcomeIn(event: TaskEvent): Pick<HookAfterFrame, "status" | "result"> | undefined {
  switch (event.type) {
    case "task.completed":
      return { status: "completed", result: shortened(event.data.content) };
    case "task.failed":
      return { status: "failed", result: { error: event.data.error.message, code: event.data.error.code } };
    case "task.canceled":
      return { status: "canceled", result: { canceled: event.data.reason } };
    default:
      return undefined;
  }
}

interface Agreement {
  /** The wait in which the gate was asked. */
  readonly wait: number;
  /** The operator that the tree names as its gate. */
  readonly operator: string;
  readonly agent: string;
  readonly attempt: number;
}

/** The last run of the attempt that the gate agreed to; a later one that it refused did not work. */
async function agreementOf({ reads, operatorsOf }: HookAfterContext, event: TaskEvent): Promise<Agreement | undefined> {
  const id = idInName(reads.salt, event.task);
  const root = idInName(reads.salt, event.root);
  if (id === undefined || root === undefined || (await operatorsOf(root)).gate === undefined) return undefined;
  const attempt = event.attempt ?? (await reads.lastAttempt(id)) ?? 1;
  for (const row of (await reads.waitsUnder(id, operatorKeys.hook_before)).toReversed()) {
    const agreed = await agreementIn(reads, row);
    if (agreed?.attempt === attempt) return agreed;
  }
  return undefined;
}

async function agreementIn(reads: OperatorReads, row: WaitRow): Promise<Agreement | undefined> {
  const details = requestDetails(row);
  if (details?.kind !== "hook_before") return undefined;
  const answer = await reads.answer(row.id);
  const verdict = answer === undefined ? undefined : HookVerdict.safeParse(storedAnswerIn(answer)?.value).data;
  if (verdict?.ok !== true) return undefined;
  return { wait: row.id, operator: details.operator, agent: details.agent, attempt: details.attempt };
}

function shortened(content: unknown): unknown {
  const length = JSON.stringify(content ?? null).length;
  return length <= maxResultLength ? (content ?? null) : { omitted: "too long for a frame", length };
}
