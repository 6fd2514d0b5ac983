// Says who calls and whether they may: bearer keys, an operator's session token, or a worker's own secret.

import type { IncomingMessage } from "node:http";

import type { Access } from "../../protocol/api/route-shape.ts";
import { workerRefusals } from "../../protocol/operator/worker.ts";
import type { KeyHolder, Keys } from "../state/api-keys.ts";
import type { OperatorHub } from "../operators/operator-hub.ts";
import { type Refused, refuse } from "./refused.ts";

export type Caller =
  | { readonly kind: "anybody" }
  | ({ readonly kind: "key" } & KeyHolder)
  | { readonly kind: "session"; readonly sid: string }
  /** Whoever it is: the records of workers decides, for the verb that is asked for. */
  | { readonly kind: "worker"; readonly bearer: string };

export type Admission =
  | { readonly ok: true; readonly caller: Caller }
  /** `guessed`: a secret was presented and is none; it may be somebody who tries. */
  | { readonly ok: false; readonly refused: Refused; readonly guessed: boolean };

export interface Doors {
  readonly keys: Pick<Keys, "find">;
  readonly operators: Pick<OperatorHub, "authenticates" | "info">;
}

const ranks = { viewer: 0, operator: 1, admin: 2 } as const;
const anybody: Admission = { ok: true, caller: { kind: "anybody" } };
const longestBearer = 4_096;

/** `sid` is that of the path, where the route is about a session. */
export function admit(doors: Doors, request: IncomingMessage, access: Access, sid: string): Admission {
  if (access === "public") return anybody;
  const bearer = bearerOf(request);
  if (access === "worker") {
    return bearer === undefined ? workerRefused() : { ok: true, caller: { kind: "worker", bearer } };
  }
  if (bearer === undefined) return refusedWith(missing, false);
  if (access === "session")
    return admitSession(doors, { bearer, sid, looks: request.method !== "POST" && request.method !== "DELETE" });
  const holder = doors.keys.find(bearer);
  if (holder === undefined) return refusedWith(wrong, true);
  return ranks[holder.role] >= ranks[access] ? { ok: true, caller: keyCaller(holder) } : tooLow(holder, access);
}

/** The token of that very session; an admin may do anything to it, and whoever may look may look at it. */
export function admitSession(
  { keys, operators }: Doors,
  { bearer, sid, looks }: { readonly bearer: string; readonly sid: string; readonly looks: boolean },
): Admission {
  const holder = keys.find(bearer);
  if (holder !== undefined) {
    if (!looks && holder.role !== "admin") return tooLow(holder, "admin");
    return operators.info(sid) === undefined ? unknownSid : { ok: true, caller: keyCaller(holder) };
  }
  switch (operators.authenticates(sid, bearer)) {
    case "yes":
      return { ok: true, caller: { kind: "session", sid } };
    case "no":
      return refusedWith(wrong, true);
    case "unknown_sid":
      return unknownSid;
  }
}

function keyCaller({ id, name, role }: KeyHolder): Caller {
  return { kind: "key", id, name, role };
}

/** Strict: one scheme, one space, one word of printable ASCII. */
export function bearerOf(request: IncomingMessage): string | undefined {
  const header = request.headers.authorization;
  if (header === undefined || header.length > longestBearer) return undefined;
  if (!header.startsWith("Bearer ") && header.slice(0, 7).toLowerCase() !== "bearer ") return undefined;
  const bearer = header.slice(7);
  return /^[\x21-\x7e]+$/.test(bearer) ? bearer : undefined;
}

const missing = "send the header `Authorization: Bearer <key>`";
const wrong = "this key or token is not known here, or was revoked";

const unknownSid: Admission = {
  ok: false,
  refused: refuse("not_found", "there is no operator with this sid; join again"),
  guessed: false,
};

function refusedWith(message: string, guessed: boolean): Admission {
  return { ok: false, refused: refuse("unauthorized", message), guessed };
}

function tooLow({ name, role }: KeyHolder, wanted: string): Admission {
  const message = `the key ${name} is a ${role}'s; this takes the key of an ${wanted}`;
  return { ok: false, refused: refuse("refused", message), guessed: false };
}

function workerRefused(): Admission {
  const { message } = workerRefusals.no_bearer;
  return {
    ok: false,
    refused: refuse("unauthorized", message, { extra: { error: "no_bearer", message } }),
    guessed: false,
  };
}
