// How a node shows another one that it is the one in the database: it has the key of the cluster, and announced this very address.

import { randomBytes, timingSafeEqual } from "node:crypto";

import { TuttiError } from "../../protocol/error.ts";
import type { ClusterKey } from "./cluster-key.ts";
import type { OtherNode } from "./node-fetch.ts";

/** Only nodes may ask here. */
export const proofPath = "/v1/nodes/proof";
export const proofHeader = "tutti-node-proof";
const nonceBytes = 32;

/** The address and the certificate are part of it: whoever passes the question on to the real node gets a proof of that one. */
export function proofOf(key: Pick<ClusterKey, "mac">, node: OtherNode, query: string): string {
  return key.mac(proven(node, query)).toString("base64url");
}

function proven({ incarnation, url, certificate }: OtherNode, query: string): string {
  return `proof ${JSON.stringify([incarnation, url, certificate, query])}`;
}

/**
 * Whoever can write the database can put any address into the row of a node. So nothing of a caller is sent there before what
 * listens there has shown the key of the cluster, which is never in the database.
 */
export async function askForProof(
  node: OtherNode,
  key: Pick<ClusterKey, "accepted">,
  send: (path: string) => Promise<Response>,
): Promise<void> {
  const query = `nonce=${randomBytes(nonceBytes).toString("hex")}`;
  const { status, headers, body } = await send(`${proofPath}?${query}`);
  await body?.cancel();
  const shown = Buffer.from(headers.get(proofHeader) ?? "", "base64url");
  const isRight = key
    .accepted(proven(node, query))
    .some((right) => shown.length === right.length && timingSafeEqual(shown, right));
  if (status === 204 && isRight) return;
  const message = `what listens at ${node.url} has not shown that it is a node of this cluster, so nothing was sent to it; is the database changed by somebody else, or the node of an earlier version?`;
  throw new TuttiError("unreachable", message);
}
