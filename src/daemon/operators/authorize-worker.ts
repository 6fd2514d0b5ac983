// Decides what the bearer of a token or handle may do. Every call of the worker routes is authorized here for its own verb.

import { idInName } from "../../store/names.ts";
import type { Clock } from "../../ports.ts";
import { parseJson } from "../../protocol/json/parse-json.ts";
import { TuttiError } from "../../protocol/error.ts";
import { isHandle } from "../../protocol/operator/handle.ts";
import { checkClaims, openToken, TokenClaims, type WorkerVerb } from "../../protocol/operator/capability-token.ts";
import { operatorKeys } from "../../protocol/operator/operator-waits.ts";
import type { AttemptLives } from "../../protocol/operator/lease.ts";
import type { HandleRow, LeaseRights, ServiceRecords } from "../../store/service-records.ts";
import { secretDigest } from "../secrets/secret-digest.ts";
import { attemptLives } from "./attempt-lives.ts";
import type { Leases } from "./leases.ts";
import type { SigningKey } from "./signing-key.ts";
import { refuseWorker, type WorkerRefusal } from "./worker-reply.ts";
import type { Store } from "../../store/store.ts";

export interface AuthorizedWorker {
  readonly ok: true;
  readonly claims: TokenClaims;
  readonly rights: LeaseRights;
  readonly lives: AttemptLives;
  /** The digest of the handle that it came with; undefined if it came with a token. */
  readonly handle: string | undefined;
}

/** What a call wants to do. */
export interface WorkerAccess {
  readonly verb: WorkerVerb;
  /** The task the request names. A request that names none is about the task of its token. */
  readonly task?: string;
  readonly attempt?: number | undefined;
}

export interface WorkerAuthContext {
  readonly records: Pick<ServiceRecords, "handle">;
  readonly store: Store;
  readonly clock: Clock;
  readonly signingKey: SigningKey;
  readonly leases: Pick<Leases, "whyVoid">;
  /** Brings in what other nodes changed of shared records; absent where there is one process. */
  readonly catchUp?: () => Promise<void>;
}

/**
 * Checks form, signature, expiry, verb, task and attempt, in this order. The first check that fails is the reason.
 *
 * A result is taken after the expiry too: as long as the attempt is open and was not offered again, nobody else has it, and
 * the work would be lost without need.
 */
export async function authorizeWorker(
  context: WorkerAuthContext,
  bearer: string | undefined,
  access: WorkerAccess,
): Promise<AuthorizedWorker | WorkerRefusal> {
  const { store, clock, leases } = context;
  const found = await claimsOf(context, bearer);
  if (!found.ok) return found;
  const { claims, handle } = found;
  const { verb, task = claims.task, attempt = claims.attempt } = access;
  const now = verb === "result" ? Math.min(clock.now(), claims.expires_at - 1) : clock.now();
  const checked = checkClaims(claims, { now, verb, task, attempt });
  if (!checked.ok) return refuseWorker(checked.reason);
  const id = idInName(store.salt, claims.task);
  const last = id === undefined ? undefined : store.lastRun(id);
  if (id === undefined || last === undefined) return refuseWorker("attempt_over");
  const rights = { task: id, attempt: claims.attempt, expires_at: claims.expires_at };
  const why = leases.whyVoid(rights);
  if (why === "key_revoked") return refuseWorker(why);
  if (last.attempt !== claims.attempt) return refuseWorker("wrong_attempt");
  if (why !== undefined) return refuseWorker(why);
  const lives = attemptLives(store.waitAt(id, claims.attempt, operatorKeys.spawn));
  return { ok: true, claims, rights, lives, handle };
}

/** Why this was never the token or handle of a worker; undefined if it was. */
export async function whyUnknown(
  context: ClaimsContext,
  bearer: string | undefined,
): Promise<WorkerRefusal | undefined> {
  const found = await claimsOf(context, bearer);
  return found.ok ? undefined : found;
}

/** Refuses if the worker's rights or the task have ended since the worker was authorized. */
export function refuseEnded(
  { store, leases }: Pick<WorkerAuthContext, "store" | "leases">,
  { rights }: AuthorizedWorker,
): WorkerRefusal | undefined {
  const why = leases.whyVoid(rights);
  if (why !== undefined) return refuseWorker(why);
  const isOver = store.task(rights.task) === undefined || store.result(rights.task) !== undefined;
  return isOver ? refuseWorker("attempt_over") : undefined;
}

type FoundClaims = Pick<AuthorizedWorker, "ok" | "claims" | "handle">;

type ClaimsContext = Pick<WorkerAuthContext, "records" | "signingKey" | "catchUp">;

/** What the token or handle says, whoever asks and whether or not it is still in force. */
export async function claimsOf(
  { records, signingKey, catchUp }: ClaimsContext,
  bearer: string | undefined,
): Promise<FoundClaims | WorkerRefusal> {
  if (bearer === undefined || bearer === "") return refuseWorker("no_bearer");
  if (!isHandle(bearer)) {
    const opened = await openToken(bearer, signingKey.tokens);
    return opened.ok ? { ok: true, claims: opened.claims, handle: undefined } : refuseWorker(opened.reason);
  }
  const digest = secretDigest(bearer);
  // It may have been issued by another node just now.
  if (records.handle(digest) === undefined) await catchUp?.();
  const row = records.handle(digest);
  return row === undefined ? refuseWorker("unknown_handle") : { ok: true, claims: storedClaims(row), handle: digest };
}

function storedClaims({ claims }: HandleRow): TokenClaims {
  const parsed = TokenClaims.safeParse(parseJson(claims));
  if (parsed.success) return parsed.data;
  throw new TuttiError("corrupt", "the stored claims of a worker's handle cannot be read", { cause: parsed.error });
}
