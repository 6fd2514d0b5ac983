// Requests from one node to another: only to the certificate that the other one published, and with a token for each.

import { TuttiError } from "../../protocol/error.ts";
import { isLoopback } from "../lifecycle/listen-rules.ts";
import { pinnedFetch } from "../lifecycle/pinned-fetch.ts";
import type { ClusterKey } from "./cluster-key.ts";
import { askForProof } from "./node-proof.ts";
import { nodeToken, nodeTokenHeader } from "./node-token.ts";

/** A node as its row in the database tells of it. */
export interface OtherNode {
  readonly incarnation: number;
  readonly url: string;
  /** PEM; null for a node that listens without TLS. */
  readonly certificate: string | null;
}

export interface NodeSender {
  readonly key: ClusterKey;
  /** The incarnation of this node. */
  readonly from: number;
  /** The person accepts that nodes talk unencrypted over the network. */
  readonly insecure?: boolean | undefined;
  readonly now?: () => number;
  /** The nodes that have shown already that they have the key of the cluster. */
  readonly proven: Set<string>;
}

/** `path` begins with `/` and may have a query. */
export type NodeFetch = (path: string, init?: RequestInit) => Promise<Response>;

/** Sends requests to another node; throws `refused` for one that can be reached only unencrypted over the network. Headers are passed on as they are, so that the other node judges the caller itself. */
export function nodeFetch(target: OtherNode, { key, from, insecure, now = Date.now, proven }: NodeSender): NodeFetch {
  const base = readNodeUrl(target, { insecure });
  const send = base.protocol === "https:" ? pinnedFetch(target.certificate ?? "") : fetch;
  const name = JSON.stringify([target.incarnation, target.url, target.certificate]);
  const sendOne: NodeFetch = async (path, init = {}) => {
    const url = new URL(path, base);
    // Whatever the path says, the request goes to this node.
    if (url.origin !== base.origin) throw new TuttiError("invalid_input", `${path} is no path of a node`);
    const method = (init.method ?? "GET").toUpperCase();
    const headers = new Headers(init.headers);
    const claims = { from, to: target.incarnation, method, path: `${url.pathname}${url.search}` };
    headers.set(nodeTokenHeader, nodeToken(key, claims, now()));
    try {
      return await send(url, { ...init, method, headers, redirect: "manual" });
    } catch (thrown) {
      if (init.signal?.aborted === true) throw thrown;
      throw new TuttiError("unreachable", `the node at ${base.origin} cannot be reached`, { cause: thrown });
    }
  };
  return async (path, init = {}) => {
    if (!proven.has(name)) {
      const { signal = null } = init;
      await askForProof(target, key, (proof) => sendOne(proof, { signal }));
      proven.add(name);
    }
    return sendOne(path, init);
  };
}

/**
 * The address of a node, checked before the node is told of it and before it is used. Beyond loopback it has TLS, and its
 * certificate is known, or the person said --insecure.
 */
export function readNodeUrl(
  { url, certificate }: Pick<OtherNode, "url" | "certificate">,
  { insecure = false }: { readonly insecure?: boolean | undefined } = {},
): URL {
  if (!URL.canParse(url)) throw new TuttiError("invalid_input", `${url} is no address of a node`);
  const read = new URL(url);
  const isNear = isLoopback(read.hostname.replace(/^\[(.*)\]$/, "$1")) || read.hostname === "localhost";
  if (read.protocol === "https:" && certificate !== null) return read;
  if (read.protocol === "http:" && (isNear || insecure)) return read;
  const message =
    read.protocol === "https:"
      ? `the node at ${read.origin} published no certificate, so nobody could tell it from another server; start it with --tls-cert and --tls-key`
      : `the other nodes would reach ${read.origin} without TLS; give --tls-cert and --tls-key, or --insecure if anybody on the network may read everything`;
  throw new TuttiError("refused", message);
}
