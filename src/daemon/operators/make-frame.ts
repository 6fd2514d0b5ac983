// Makes the frame of a request, and with a spawn the rights it carries: a fresh token and handle for the same attempt.

import { createHash } from "node:crypto";

import type { Clock } from "../../ports.ts";
import { spawnDirective } from "../../protocol/operator/directive.ts";
import type { ServerFrame } from "../../protocol/operator/frames.ts";
import { newHandle } from "../../protocol/operator/handle.ts";
import { defaultTokenLife, issueToken, WorkerVerb } from "../../protocol/operator/capability-token.ts";
import type { ServiceRecords } from "../../store/service-records.ts";
import type { Leases } from "./leases.ts";
import type { OpenRequests } from "./open-requests.ts";
import { nameRequest } from "./request-names.ts";
import type { Request } from "./session.ts";
import type { SigningKey } from "./signing-key.ts";

export interface FrameMaker {
  readonly records: Pick<ServiceRecords, "putHandle">;
  readonly clock: Clock;
  readonly signingKey: SigningKey;
  readonly leases: Leases;
  readonly requests: OpenRequests;
  /** Where workers reach the daemon. */
  readonly baseUrl: () => string;
}

/** What it writes must be committed before the frame goes out. Undefined for an ask that is gone. */
export async function makeFrame(maker: FrameMaker, request: Request, sid: string): Promise<ServerFrame | undefined> {
  const { kind, id, task, due: deadline, agent, attempt } = request;
  const req_id = nameRequest({ sid, kind, id }, maker.signingKey);
  const common = { req_id, task_id: task };
  const more = { deadline, ...(request.sent ? { redelivered: true as const } : {}) };
  if (kind === "ask") {
    const question = maker.requests.question(id);
    return question === undefined ? undefined : { type: "ask", ...common, question, ...more };
  }
  if (kind === "hook_before") return { type: "hook_before", ...common, agent, attempt, ...more };
  const rights = await handOut(maker, request);
  const facts = { req_id, task_id: task, agent: oneLine(agent), base_url: maker.baseUrl() };
  const directive = spawnDirective({ ...facts, worker_handle: rights.worker_handle });
  return { type: "spawn", ...common, agent, attempt, ...rights, directive, ...more };
}

async function handOut(
  { records, clock, signingKey, leases }: FrameMaker,
  { task, taskRow, attempt, agent }: Request,
): Promise<{ readonly capability_token: string; readonly worker_handle: string }> {
  const grant = { task, attempt, agent: oneLine(agent), verbs: WorkerVerb.options };
  // Later than any that was taken back, whatever the clock says.
  const now = Math.max(clock.now(), leases.voidUntil(taskRow, attempt) - defaultTokenLife + 1);
  const { token, claims } = await issueToken(grant, signingKey.tokens, { now });
  const handle = newHandle();
  records.putHandle({ digest: handleDigest(handle), claims: JSON.stringify(claims), expires_at: claims.expires_at });
  leases.offered(taskRow, attempt, claims.expires_at);
  return { capability_token: token, worker_handle: handle };
}

export function handleDigest(handle: string): string {
  return createHash("sha256").update(handle).digest("hex");
}

/** Agents are named by whoever writes the file; a name of several lines must not become several lines of a directive. */
function oneLine(name: string): string {
  const line = name
    .toWellFormed()
    .replaceAll(/[\p{Cc}\u2028\u2029]+/gu, " ")
    .trim();
  return line === "" ? "(unnamed)" : line.slice(0, 200).toWellFormed();
}
