// What a node shows to another: a token for one request, signed with the key of the cluster and valid for moments.

import { timingSafeEqual } from "node:crypto";

import { z } from "zod";

import { TuttiError } from "../../protocol/error.ts";
import { parseJson } from "../../protocol/json/parse-json.ts";
import type { ClusterKey } from "./cluster-key.ts";

/** The header that carries it, beside the credentials of whoever the request is made for. */
export const nodeTokenHeader = "tutti-node-token";

export interface NodeRequest {
  readonly method: string;
  /** With its query, as it stands in the request. */
  readonly path: string;
}

const Claims = z.strictObject({
  /** Incarnations: a node that joined anew is another one. */
  from: z.number().int(),
  to: z.number().int(),
  method: z.string(),
  path: z.string(),
  at: z.number().int(),
});
type Claims = z.infer<typeof Claims>;

const mark = "tn1";
/** How old a token may be. Also how far the clocks of two machines may be apart. */
const lifeMs = 60_000;
const longest = 16_384;

export function nodeToken(key: ClusterKey, claims: Pick<Claims, "from" | "to"> & NodeRequest, now: number): string {
  const { from, to, method, path } = claims;
  const body = Buffer.from(JSON.stringify({ from, to, method, path, at: now } satisfies Claims)).toString("base64url");
  return `${mark}.${body}.${key.mac(`${mark}.${body}`).toString("base64url")}`;
}

export interface TokenCheck {
  readonly key: ClusterKey;
  /** The incarnation of the node that was asked. */
  readonly to: number;
  readonly now: number;
}

/**
 * The incarnation of the node that sent the request. Throws `unauthorized` for anything but a token that a node of this
 * cluster made just now for this very request to this very node. Nothing is read of a token before its signature is right.
 */
export function checkNodeToken(token: string | undefined, request: NodeRequest, { key, to, now }: TokenCheck): number {
  const [given, body = "", signature = "", ...more] = (token ?? "").slice(0, longest).split(".");
  const shown = Buffer.from(signature, "base64url");
  const isRight = key
    .accepted(`${mark}.${body}`)
    .some((right) => shown.length === right.length && timingSafeEqual(shown, right));
  if (given !== mark || more.length > 0 || !isRight) {
    throw refused("it does not come from a node of this cluster");
  }
  const claims = Claims.parse(parseJson(Buffer.from(body, "base64url").toString("utf8")));
  if (claims.to !== to) throw refused("it is for another node, or for this one before it joined anew");
  if (claims.method !== request.method || claims.path !== request.path) throw refused("it is for another request");
  if (Math.abs(now - claims.at) > lifeMs) {
    const seconds = Math.round(Math.abs(now - claims.at) / 1_000);
    throw refused(`it is ${seconds} s old; if it was just made, set the clocks of both machines right`);
  }
  return claims.from;
}

function refused(why: string): TuttiError {
  return new TuttiError("unauthorized", `the token of the node that sent this is not accepted: ${why}`);
}
