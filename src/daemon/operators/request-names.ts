// The req_id of a request: computed from its wait, so that any id ever sent can be looked up after any restart.

import { sameDigest } from "../../protocol/operator/digest.ts";
import { formatRequestId, parseRequestId, type RequestIdParts } from "../../protocol/operator/request-id.ts";
import type { SigningKey } from "./signing-key.ts";

interface RequestName {
  readonly sid: string;
  readonly kind: RequestIdParts["kind"];
  /** Of the wait; of the event for a `hook_after`. At most 48 bits. */
  readonly id: number;
}

const idDigits = 12;

/** A uuid of version 8: the id, then a digest that only the holder of the key can make for this session and kind. */
export function nameRequest(name: RequestName, key: Pick<SigningKey, "mac">): string {
  const { sid, kind, id } = name;
  const place = id.toString(16).padStart(idDigits, "0");
  const seal = key.mac("req_id", `${sid}\n${kind}\n${place}`);
  const uuid = [
    place.slice(0, 8),
    place.slice(8),
    `8${seal.slice(0, 3)}`,
    `8${seal.slice(3, 6)}`,
    seal.slice(6, 18),
  ].join("-");
  return formatRequestId({ sid, kind, uuid });
}

/** Undefined for an id that was not made here for this session. */
export function readRequestName(
  text: string,
  sid: string,
  key: Pick<SigningKey, "mac">,
): { readonly kind: RequestName["kind"]; readonly id: number } | undefined {
  const parts = parseRequestId(text);
  if (parts === undefined || parts.sid !== sid) return undefined;
  const id = Number.parseInt(parts.uuid.replaceAll("-", "").slice(0, idDigits), 16);
  return sameDigest(nameRequest({ sid, kind: parts.kind, id }, key), text) ? { kind: parts.kind, id } : undefined;
}
