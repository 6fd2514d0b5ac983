// Decides who is calling and whether they may: by an API key, the token of an operator's session, or a worker's secret.

import type { IncomingMessage } from "node:http";

import type { Access } from "../../protocol/api/route-shape.ts";
import { workerRefusals } from "../../protocol/operator/worker.ts";
import type { KeyHolder, Keys } from "../state/api-keys.ts";
import type { OperatorHub } from "../operators/operator-hub.ts";
import { type HttpError, httpError } from "./http-error.ts";

export type Caller =
  | { readonly kind: "anonymous" }
  | ({ readonly kind: "key" } & KeyHolder)
  | { readonly kind: "session"; readonly sid: string }
  /** Not checked yet: the worker service checks the secret, because it depends on the operation and its task. */
  | { readonly kind: "worker"; readonly bearer: string };

export type AuthResult =
  | { readonly ok: true; readonly caller: Caller }
  /** `unknownSecret`: a secret was sent that nobody here has, so the caller may be guessing. */
  | { readonly ok: false; readonly error: HttpError; readonly unknownSecret: boolean };

export interface AuthDeps {
  readonly keys: Pick<Keys, "find">;
  readonly operators: Pick<OperatorHub, "authenticates" | "info">;
}

const roleRanks = { viewer: 0, operator: 1, admin: 2 } as const;
const anonymous: AuthResult = { ok: true, caller: { kind: "anonymous" } };
const maxHeaderLength = 4_096;

/** `sid` is the session in the path of the route; empty when the route has none. */
export function authorize(deps: AuthDeps, request: IncomingMessage, access: Access, sid: string): AuthResult {
  if (access === "public") return anonymous;
  const bearer = bearerOf(request);
  if (access === "worker") {
    return bearer === undefined ? workerWithoutBearer() : { ok: true, caller: { kind: "worker", bearer } };
  }
  if (bearer === undefined) return unauthorized(missingBearer, false);
  if (access === "session") {
    const readOnly = request.method !== "POST" && request.method !== "DELETE";
    return authorizeSession(deps, { bearer, sid, readOnly });
  }
  const holder = deps.keys.find(bearer);
  if (holder === undefined) return unauthorized(unknownBearer, true);
  return roleRanks[holder.role] >= roleRanks[access] ? byKey(holder) : roleTooLow(holder, access);
}

/** The session's own token may do everything, and so may an admin's key; any other key may only read. */
export function authorizeSession(
  { keys, operators }: AuthDeps,
  { bearer, sid, readOnly }: { readonly bearer: string; readonly sid: string; readonly readOnly: boolean },
): AuthResult {
  const holder = keys.find(bearer);
  if (holder !== undefined) {
    if (!readOnly && holder.role !== "admin") return roleTooLow(holder, "admin");
    return operators.info(sid) === undefined ? unknownSession : byKey(holder);
  }
  switch (operators.authenticates(sid, bearer)) {
    case "yes":
      return { ok: true, caller: { kind: "session", sid } };
    case "no":
      return unauthorized(unknownBearer, true);
    case "unknown_sid":
      return unknownSession;
  }
}

/** Strict: the scheme, one space, and one word of printable ASCII. */
export function bearerOf(request: IncomingMessage): string | undefined {
  const header = request.headers.authorization;
  if (header === undefined || header.length > maxHeaderLength) return undefined;
  if (!header.startsWith("Bearer ") && header.slice(0, 7).toLowerCase() !== "bearer ") return undefined;
  const bearer = header.slice(7);
  return /^[\x21-\x7e]+$/.test(bearer) ? bearer : undefined;
}

function byKey({ id, name, role }: KeyHolder): AuthResult {
  return { ok: true, caller: { kind: "key", id, name, role } };
}

const missingBearer = "send the header `Authorization: Bearer <key>`";
const unknownBearer = "this key or token is unknown or was revoked";

const unknownSession: AuthResult = {
  ok: false,
  error: httpError("not_found", "there is no operator with this sid; join again"),
  unknownSecret: false,
};

function unauthorized(message: string, unknownSecret: boolean): AuthResult {
  return { ok: false, error: httpError("unauthorized", message), unknownSecret };
}

function roleTooLow({ name, role }: KeyHolder, needed: string): AuthResult {
  const message = `the key ${name} has the role ${role}; this request needs a key with the role ${needed}`;
  return { ok: false, error: httpError("refused", message), unknownSecret: false };
}

function workerWithoutBearer(): AuthResult {
  const { message } = workerRefusals.no_bearer;
  const error = httpError("unauthorized", message, { extra: { error: "no_bearer", message } });
  return { ok: false, error, unknownSecret: false };
}
