// Builds the frame of a request. A spawn carries rights for its worker: a fresh token and handle for the same attempt.

import { askView } from "../../engine/event-view.ts";
import type { Clock } from "../../ports.ts";
import { spawnDirective } from "../../protocol/operator/directive.ts";
import type { AskFrame, ServerFrame } from "../../protocol/operator/frames.ts";
import { newHandle } from "../../protocol/operator/handle.ts";
import { operatorKeys } from "../../protocol/operator/operator-waits.ts";
import { issueToken, WorkerVerb } from "../../protocol/operator/capability-token.ts";
import type { OperatorReads } from "../../store/reads-for-operators.ts";
import type { LeaseRights, OperatorRow, ServiceRecords } from "../../store/service-records.ts";
import { secretDigest } from "../secrets/secret-digest.ts";
import { attemptLives } from "./attempt-lives.ts";
import type { Leases } from "./leases.ts";
import type { PendingRequest } from "./session-state.ts";
import { signRequestId } from "./signed-request-id.ts";
import type { SigningKey } from "./signing-key.ts";

export interface FrameContext {
  readonly records: Pick<ServiceRecords, "putHandle" | "sent">;
  readonly reads: OperatorReads;
  readonly clock: Clock;
  readonly signingKey: SigningKey;
  readonly leases: Leases;
  /** Where workers reach the daemon. */
  readonly baseUrl: () => string;
}

export interface RequestFrame {
  readonly frame: ServerFrame;
  /** The rights a spawn carries. They must be recorded and committed before the frame is sent. */
  readonly offer?: Offer;
}

interface Offer {
  readonly rights: LeaseRights;
  /** Queues what makes the rights valid, behind the record of whom the request is sent to. */
  record(): void;
}

/** Returns undefined for an ask that is no longer there. */
export async function requestFrame(
  context: FrameContext,
  request: PendingRequest,
  operator: Pick<OperatorRow, "sid" | "api_key">,
): Promise<RequestFrame | undefined> {
  const { sid } = operator;
  const { kind, id, task: task_id, due: deadline, agent, attempt } = request;
  const req_id = signRequestId({ sid, kind, id }, context.signingKey);
  const before = request.sent || (!request.recorded && context.records.sent(id)?.sid === sid);
  const common = { req_id, task_id, deadline, ...(before ? { redelivered: true as const } : {}) };
  switch (kind) {
    case "ask": {
      const question = await questionOf(context.reads, id);
      return question === undefined ? undefined : { frame: { type: "ask", ...common, question } };
    }
    case "hook_before":
      return { frame: { type: "hook_before", ...common, agent, attempt } };
    case "spawn": {
      const { capability_token, worker_handle, offer, lives } = await issueRights(context, request, operator);
      const facts = { req_id, task_id, agent: oneLine(agent), base_url: context.baseUrl(), worker_handle, lives };
      const directive = spawnDirective(facts);
      return {
        frame: { type: "spawn", ...common, agent, attempt, capability_token, worker_handle, directive },
        offer,
      };
    }
  }
}

/** The frame that asks again, and says what was wrong with the answer; undefined for an ask that is no longer there. */
export async function askAgainFrame(
  { reads, signingKey }: Pick<FrameContext, "reads" | "signingKey">,
  { id, task: task_id, due: deadline }: Pick<PendingRequest, "id" | "task" | "due">,
  { sid, again, problem }: { readonly sid: string; readonly again: number; readonly problem: string },
): Promise<AskFrame | undefined> {
  const question = await questionOf(reads, id);
  if (question === undefined) return undefined;
  const req_id = signRequestId({ sid, kind: "ask", id, again }, signingKey);
  return { type: "ask", req_id, task_id, deadline, question: { problem, ...question } };
}

async function questionOf(reads: OperatorReads, id: number): Promise<Record<string, unknown> | undefined> {
  const row = await reads.wait(id);
  const ask = row === undefined ? undefined : askView(reads.salt, row);
  if (ask === undefined) return undefined;
  const { kind, question, details, choices, choices_with_words, answer_schema, deadline } = ask;
  return {
    kind,
    question,
    ...(details === undefined ? {} : { details }),
    ...(choices === undefined ? {} : { choices }),
    ...(choices_with_words === undefined ? {} : { choices_with_words }),
    ...(answer_schema === null ? {} : { answer_schema }),
    deadline,
  };
}

async function issueRights(
  { records, reads, clock, signingKey, leases }: FrameContext,
  { id: wait, task, taskRow, attempt, agent }: PendingRequest,
  { sid, api_key: apiKey }: Pick<OperatorRow, "sid" | "api_key">,
) {
  const lives = attemptLives(await reads.waitAt(taskRow, attempt, operatorKeys.spawn));
  const grant = { task, attempt, agent: oneLine(agent), verbs: WorkerVerb.options };
  // The rights must expire later than any that were made void, even if the clock was set back.
  const now = Math.max(clock.now(), leases.voidUntil(taskRow, attempt) - lives.tokenMs + 1);
  const { token, claims } = await issueToken(grant, signingKey.tokens, { now, life: lives.tokenMs });
  const { expires_at } = claims;
  const worker_handle = newHandle();
  const rights: LeaseRights = { task: taskRow, attempt, expires_at };
  const record = (): void => {
    records.putHandle({ digest: secretDigest(worker_handle), claims: JSON.stringify(claims), expires_at });
    leases.recordOffer(rights, apiKey, { wait, sid });
  };
  return { capability_token: token, worker_handle, offer: { rights, record } satisfies Offer, lives };
}

/** An agent's name comes from a file. A name of several lines must not become several lines of a directive. */
function oneLine(name: string): string {
  const line = name
    .toWellFormed()
    .replaceAll(/[\p{Cc}\u2028\u2029]+/gu, " ")
    .trim();
  return line === "" ? "(unnamed)" : line.slice(0, 200).toWellFormed();
}
