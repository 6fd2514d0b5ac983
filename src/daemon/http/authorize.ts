// Decides who is calling and whether they may: by an API key, the token of an operator's session, or a worker's secret.

import type { IncomingMessage } from "node:http";

import type { Access } from "../../protocol/api/route-shape.ts";
import { TuttiError } from "../../protocol/error.ts";
import { workerRefusals } from "../../protocol/operator/worker.ts";
import type { ProgramCaller } from "../../protocol/invocation/by-program.ts";
import type { KeyHolder, Keys } from "../state/api-keys.ts";
import type { PageRight, PageTokens } from "../state/page-tokens.ts";
import type { OperatorHub } from "../operators/operator-hub.ts";
import { type HttpError, httpError } from "./http-error.ts";
import { programHeader, programWith } from "./program-header.ts";

export type Caller =
  | { readonly kind: "anonymous" }
  /** `page`: it is a page that signed in, and sent its token instead of the key. `program`: it is no person. */
  | ({ readonly kind: "key"; readonly page?: PageRight; readonly program?: ProgramCaller } & KeyHolder)
  | { readonly kind: "session"; readonly sid: string }
  /** Not checked yet: the worker service checks the secret, because it depends on the operation and its task. */
  | { readonly kind: "worker"; readonly bearer: string };

export type AuthResult =
  | { readonly ok: true; readonly caller: Caller }
  /** `unknownSecret`: a secret was sent that nobody here has, so the caller may be guessing. */
  | { readonly ok: false; readonly error: HttpError; readonly unknownSecret: boolean };

export interface AuthDeps {
  readonly keys: Pick<Keys, "find" | "isRevoked" | "onRevoked">;
  readonly pages: Pick<PageTokens, "find" | "isInForce" | "onEnded">;
  readonly operators: Pick<OperatorHub, "authenticates" | "keyOf">;
  /** Brings in what other nodes have recorded; absent when there are none. */
  readonly catchUp?: (() => Promise<void>) | undefined;
}

const roleRanks = { viewer: 0, operator: 1, admin: 2 } as const;
const anonymous: AuthResult = { ok: true, caller: { kind: "anonymous" } };
const maxHeaderLength = 4_096;

/** What is unknown here may have been made at another node a moment ago, so it is looked for once more. */
export async function decideFresh(deps: Pick<AuthDeps, "catchUp">, decide: () => AuthResult): Promise<AuthResult> {
  const decided = decide();
  if (decided.ok || deps.catchUp === undefined) return decided;
  await deps.catchUp();
  return decide();
}

/** `sid` is the session in the path of the route; empty when the route has none. */
export function authorize(deps: AuthDeps, request: IncomingMessage, access: Access, sid: string): AuthResult {
  if (access === "public") return anonymous;
  const bearer = bearerOf(request);
  if (access === "worker") {
    return bearer === undefined ? workerWithoutBearer() : { ok: true, caller: { kind: "worker", bearer } };
  }
  if (bearer === undefined) return unauthorized(missingBearer, false);
  if (access === "session") {
    return authorizeSession(deps, { bearer, sid, use: sessionUses[request.method ?? ""] ?? "look" });
  }
  const found = holderOf(deps, bearer);
  if (found === undefined) return unauthorized(unknownBearer, true);
  const { holder } = found;
  const header = request.headers[programHeader];
  return roleRanks[holder.role] >= roleRanks[access] ? byKey(found, header) : roleTooLow(holder, access);
}

interface FoundHolder {
  readonly holder: KeyHolder;
  readonly page?: PageRight;
}

/** By a key, or by the token of a page, which has the rights of its key. */
function holderOf({ keys, pages }: Pick<AuthDeps, "keys" | "pages">, bearer: string): FoundHolder | undefined {
  const holder = keys.find(bearer);
  return holder === undefined ? pages.find(bearer) : { holder };
}

/** To `speak` is to open the operator's socket, or to get a ticket for it. */
type SessionUse = "look" | "end" | "speak";

const sessionUses: Readonly<Record<string, SessionUse>> = { POST: "speak", DELETE: "end" };

/**
 * The session's own token and the key that it joined with may do everything. An admin's key may end the session. No other
 * key may speak for it: what an operator says is recorded under its name.
 */
export function authorizeSession(
  deps: AuthDeps,
  { bearer, sid, use }: { readonly bearer: string; readonly sid: string; readonly use: SessionUse },
): AuthResult {
  const { operators } = deps;
  const found = holderOf(deps, bearer);
  if (found !== undefined) {
    const { holder } = found;
    const joinedWith = operators.keyOf(sid);
    if (joinedWith === undefined) return unknownSession;
    if (use === "look" || joinedWith === holder.id) return byKey(found);
    if (use === "speak") return notItsKey(holder);
    return holder.role === "admin" ? byKey(found) : roleTooLow(holder, "admin");
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

function byKey({ holder, page }: FoundHolder, header?: string | string[]): AuthResult {
  const { id, name, role, person, may, folders } = holder;
  const program = programWith(holder, header);
  const caller = { kind: "key", id, name, role, person, may, folders } as const;
  return {
    ok: true,
    caller: { ...caller, ...(page === undefined ? {} : { page }), ...(program === undefined ? {} : { program }) },
  };
}

/** The program that asks; undefined for a person, and for whoever has no key. */
export function programOf(caller: Caller): ProgramCaller | undefined {
  return caller.kind === "key" ? caller.program : undefined;
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

function notItsKey({ name }: KeyHolder): AuthResult {
  const message = `the key ${name} may not speak for this operator; send the token that the operator got when it joined`;
  return { ok: false, error: httpError("refused", message), unknownSecret: false };
}

/** The error for a caller whose key was revoked, or whose token ended, since the caller was authorized; undefined for everybody else. */
export function revokedSince({ keys, pages }: AuthDeps, caller: Caller): HttpError | undefined {
  if (caller.kind !== "key") return undefined;
  const lasts = !keys.isRevoked(caller.id) && (caller.page === undefined || pages.isInForce(caller.page));
  return lasts ? undefined : httpError("unauthorized", unknownBearer);
}

/** For requests that last: calls `end` when the key of the caller is revoked, or its page signs out. Returns a function that stops listening. */
export function onceRevoked({ keys, pages }: AuthDeps, caller: Caller, end: (why: TuttiError) => void): () => void {
  if (caller.kind !== "key") return () => undefined;
  const ended = (): void => end(new TuttiError("unauthorized", unknownBearer));
  const offRevoked = keys.onRevoked((id) => {
    if (id === caller.id) ended();
  });
  const { page } = caller;
  if (page === undefined) return offRevoked;
  const offEnded = pages.onEnded((digest) => {
    if (digest === page.digest) ended();
  });
  return () => {
    offRevoked();
    offEnded();
  };
}

function workerWithoutBearer(): AuthResult {
  const { message } = workerRefusals.no_bearer;
  const error = httpError("unauthorized", message, { extra: { error: "no_bearer", message } });
  return { ok: false, error, unknownSecret: false };
}
