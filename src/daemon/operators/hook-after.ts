// Tells a gate that a run it agreed to has ended: at most once for each run, and only over a connection that is open.

import { storedAnswerIn } from "../../engine/wait-body.ts";
import { idInName } from "../../store/names.ts";
import type { TreeOperators } from "../../protocol/invocation/invocation-file.ts";
import { AssignmentResult } from "../../protocol/task/assignment.ts";
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

const ends: ReadonlySet<TaskEvent["type"]> = new Set([
  "task.completed",
  "task.failed",
  "task.canceled",
  "attempt.ended",
  "task.handed_over",
]);

/** Each run is ended by one event, whichever of these it is. */
export function endsRun({ type }: TaskEvent): boolean {
  return ends.has(type);
}

/** Does nothing for an event that ends no run, and for a run that no gate agreed to. */
export async function sendHookAfter(context: HookAfterContext, event: TaskEvent): Promise<void> {
  const { records, sessions, signingKey, claimOnce } = context;
  const ended = outcomeIn(event);
  const agreed = ended === undefined ? undefined : await agreementOf(context, event);
  if (ended === undefined || agreed === undefined) return;
  const { wait, operator, agent, attempt } = agreed;
  const askedSid = records.sent(wait)?.sid;
  const session = (askedSid === undefined ? undefined : sessions.get(askedSid)) ?? sessions.find(operator);
  if (session?.connection === undefined) return;
  // The operator may be connected to two nodes for a moment.
  if (!(await claimOnce(`hook_after ${event.seq}`))) return;
  const req_id = signRequestId({ sid: session.row.sid, kind: "hook_after", id: event.seq }, signingKey);
  session.connection?.send({ type: "hook_after", req_id, task_id: event.task, agent, attempt, ...ended });
}

function outcomeIn(event: TaskEvent): Pick<HookAfterFrame, "outcome" | "result"> | undefined {
  switch (event.type) {
    case "task.completed":
      return { outcome: outcomeOf(event.data.content), result: shortened(event.data.content) };
    case "task.failed":
      return { outcome: "failed", result: { error: event.data.error.message, code: event.data.error.code } };
    case "task.canceled":
      return { outcome: "canceled", result: { canceled: event.data.reason } };
    case "attempt.ended":
      return { outcome: event.data.outcome, result: { reason: event.data.reason } };
    case "task.handed_over":
      return { outcome: "handed_over", result: { handed_over: event.data.to_agent } };
    default:
      return undefined;
  }
}

/** A delegated task of a goal also completes when its work failed or it was given up. */
function outcomeOf(content: unknown): "completed" | "failed" {
  return AssignmentResult.safeParse(content).data?.state === "failed" ? "failed" : "completed";
}

interface Agreement {
  /** The wait in which the gate was asked. */
  readonly wait: number;
  /** The operator that the tree names as its gate. */
  readonly operator: string;
  readonly agent: string;
  readonly attempt: number;
}

async function agreementOf({ reads, operatorsOf }: HookAfterContext, event: TaskEvent): Promise<Agreement | undefined> {
  const id = idInName(reads.salt, event.task);
  const root = idInName(reads.salt, event.root);
  const { attempt, run } = event;
  if (id === undefined || root === undefined || attempt === undefined) return undefined;
  if ((await operatorsOf(root)).gate === undefined) return undefined;
  const row = await reads.waitAt(id, attempt, operatorKeys.hook_before, run);
  const details = row === undefined ? undefined : requestDetails(row);
  if (row === undefined || details?.kind !== "hook_before") return undefined;
  const answer = await reads.answer(row.id);
  const verdict = answer === undefined ? undefined : HookVerdict.safeParse(storedAnswerIn(answer)?.value).data;
  if (verdict?.ok !== true) return undefined;
  return { wait: row.id, operator: details.operator, agent: details.agent, attempt };
}

function shortened(content: unknown): unknown {
  const length = JSON.stringify(content ?? null).length;
  return length <= maxResultLength ? (content ?? null) : { omitted: "too long for a frame", length };
}
