// Builds the frame of a request. A spawn carries rights for its worker: a fresh token and handle for the same attempt.

import { askView } from "../../engine/event-view.ts";
import type { Clock } from "../../ports.ts";
import { spawnDirective } from "../../protocol/operator/directive.ts";
import type { ServerFrame } from "../../protocol/operator/frames.ts";
import { newHandle } from "../../protocol/operator/handle.ts";
import { issueToken, WorkerVerb } from "../../protocol/operator/capability-token.ts";
import type { LeaseRights, OperatorRow, ServiceRecords } from "../../store/service-records.ts";
import { secretDigest } from "../secrets/secret-digest.ts";
import { attemptLives } from "./attempt-lives.ts";
import type { Leases } from "./leases.ts";
import type { PendingRequest } from "./session-state.ts";
import { signRequestId } from "./signed-request-id.ts";
import type { SigningKey } from "./signing-key.ts";
import type { Store } from "../../store/store.ts";

export interface FrameContext {
  readonly records: Pick<ServiceRecords, "putHandle">;
  readonly store: Store;
  readonly clock: Clock;
  readonly signingKey: SigningKey;
  readonly leases: Leases;
  /** Where workers reach the daemon. */
  readonly baseUrl: () => string;
}

export interface RequestFrame {
  readonly frame: ServerFrame;
  /** The rights a spawn carries. They must be committed before the frame is sent. */
  readonly rights?: LeaseRights;
}

/** Returns undefined for an ask that is no longer there. */
export async function requestFrame(
  context: FrameContext,
  request: PendingRequest,
  { sid, api_key }: Pick<OperatorRow, "sid" | "api_key">,
): Promise<RequestFrame | undefined> {
  const { kind, id, task: task_id, due: deadline, agent, attempt } = request;
  const req_id = signRequestId({ sid, kind, id }, context.signingKey);
  const common = { req_id, task_id, deadline, ...(request.sent ? { redelivered: true as const } : {}) };
  switch (kind) {
    case "ask": {
      const question = questionOf(context.store, id);
      return question === undefined ? undefined : { frame: { type: "ask", ...common, question } };
    }
    case "hook_before":
      return { frame: { type: "hook_before", ...common, agent, attempt } };
    case "spawn": {
      const { capability_token, worker_handle, rights, lives } = await issueRights(context, request, api_key);
      const facts = { req_id, task_id, agent: oneLine(agent), base_url: context.baseUrl(), worker_handle, lives };
      const directive = spawnDirective(facts);
      return {
        frame: { type: "spawn", ...common, agent, attempt, capability_token, worker_handle, directive },
        rights,
      };
    }
  }
}

function questionOf(store: Store, id: number): Record<string, unknown> | undefined {
  const row = store.waitById(id);
  const ask = row === undefined ? undefined : askView(store.salt, row);
  if (ask === undefined) return undefined;
  const { kind, question, details, choices, answer_schema, deadline } = ask;
  return {
    kind,
    question,
    ...(details === undefined ? {} : { details }),
    ...(choices === undefined ? {} : { choices }),
    ...(answer_schema === null ? {} : { answer_schema }),
    deadline,
  };
}

async function issueRights(
  { records, store, clock, signingKey, leases }: FrameContext,
  { task, taskRow, attempt, agent }: PendingRequest,
  apiKey: string,
) {
  const lives = attemptLives(store, taskRow, attempt);
  const grant = { task, attempt, agent: oneLine(agent), verbs: WorkerVerb.options };
  // The rights must expire later than any that were made void, even if the clock was set back.
  const now = Math.max(clock.now(), leases.voidUntil(taskRow, attempt) - lives.tokenMs + 1);
  const { token, claims } = await issueToken(grant, signingKey.tokens, { now, life: lives.tokenMs });
  const { expires_at } = claims;
  const worker_handle = newHandle();
  records.putHandle({ digest: secretDigest(worker_handle), claims: JSON.stringify(claims), expires_at });
  const rights: LeaseRights = { task: taskRow, attempt, expires_at };
  leases.recordOffer(rights, apiKey);
  return { capability_token: token, worker_handle, rights, lives };
}

/** An agent's name comes from a file. A name of several lines must not become several lines of a directive. */
function oneLine(name: string): string {
  const line = name
    .toWellFormed()
    .replaceAll(/[\p{Cc}\u2028\u2029]+/gu, " ")
    .trim();
  return line === "" ? "(unnamed)" : line.slice(0, 200).toWellFormed();
}
