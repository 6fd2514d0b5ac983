// The req_id of a request, computed from its wait and signed: any id ever sent can be looked up after a restart.

import { sameDigest } from "../../protocol/operator/digest.ts";
import { formatRequestId, parseRequestId, type RequestIdParts } from "../../protocol/operator/request-id.ts";
import type { SigningKey } from "./signing-key.ts";

interface RequestName {
  readonly sid: string;
  readonly kind: RequestIdParts["kind"];
  /** The id of the wait; for a `hook_after`, of the event. At most 48 bits. */
  readonly id: number;
  /** How often it was asked again because an answer could not be used; never more than `mostAgain`. */
  readonly again?: number;
}

const idDigits = 12;
/** The variants of a uuid, one for each time. */
const variants = "89ab";
export const mostAgain = variants.length - 1;

/** Its uuid is of version 8: the id, then a digest that only the holder of the key can make for this sid and kind. */
export function signRequestId(name: RequestName, key: Pick<SigningKey, "mac">): string {
  const { sid, kind, id, again = 0 } = name;
  const hex = id.toString(16).padStart(idDigits, "0");
  const mac = key.mac("req_id", `${sid}\n${kind}\n${hex}${again === 0 ? "" : `\n${again}`}`);
  const variant = variants.charAt(again);
  const parts = [
    hex.slice(0, 8),
    hex.slice(8),
    `8${mac.slice(0, 3)}`,
    `${variant}${mac.slice(3, 6)}`,
    mac.slice(6, 18),
  ];
  return formatRequestId({ sid, kind, uuid: parts.join("-") });
}

/** Returns undefined for an id that was not signed with this key for this operator session. */
export function verifyRequestId(
  text: string,
  sid: string,
  key: Pick<SigningKey, "mac">,
): { readonly kind: RequestName["kind"]; readonly id: number; readonly again: number } | undefined {
  const parts = parseRequestId(text);
  if (parts === undefined || parts.sid !== sid) return undefined;
  const id = Number.parseInt(parts.uuid.replaceAll("-", "").slice(0, idDigits), 16);
  const again = variants.indexOf(parts.uuid.charAt(19));
  if (again === -1) return undefined;
  const { kind } = parts;
  return sameDigest(signRequestId({ sid, kind, id, again }, key), text) ? { kind, id, again } : undefined;
}
