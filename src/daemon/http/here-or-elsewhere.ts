// Asks the other nodes for what is on the disk of one of them, with the rights of whoever asked here.

import type { Tutti } from "../../client/client.ts";
import { httpClient } from "../../client/http-client.ts";
import { TuttiError } from "../../protocol/error.ts";
import type { OtherNode } from "../cluster/node-fetch.ts";
import type { SharedByNodes } from "../state/kept-records.ts";
import type { State } from "../state/state.ts";
import { forwardedHeader } from "./forwarded-header.ts";
import type { AnyRequest } from "./handler.ts";

export type Asking = Pick<AnyRequest, "bearer" | "forwarded" | "signal">;

/** What is not found here is looked for at each other node. A node that was asked by another one asks nobody. */
export async function hereOrElsewhere<T>(
  { client, shared }: Pick<State, "client" | "shared">,
  request: Asking,
  ask: (tutti: Tutti) => Promise<T>,
): Promise<T> {
  try {
    return await ask(client);
  } catch (thrown) {
    if (shared === undefined || request.forwarded || request.bearer === undefined || !isNotFound(thrown)) throw thrown;
    const silent: string[] = [];
    for (const node of await shared.others()) {
      const other = clientOf(shared, node, { bearer: request.bearer, signal: request.signal });
      try {
        return await ask(other);
      } catch (there) {
        if (there instanceof TuttiError && there.code === "unreachable") silent.push(node.url);
        else if (!isNotFound(there)) throw there;
      } finally {
        await other.close();
      }
    }
    if (silent.length === 0) throw thrown;
    const why = thrown instanceof Error ? thrown.message : String(thrown);
    throw new TuttiError("unreachable", `${why}; ${silent.join(", ")} may have it, and cannot be reached`);
  }
}

function isNotFound(thrown: unknown): boolean {
  return thrown instanceof TuttiError && thrown.code === "not_found";
}

function clientOf(
  shared: Pick<SharedByNodes, "fetchFrom">,
  node: OtherNode,
  { bearer, signal }: { readonly bearer: string; readonly signal: AbortSignal },
): Tutti {
  const send = shared.fetchFrom(node);
  return httpClient({
    url: node.url,
    key: bearer,
    signal,
    async fetch(input, init) {
      const { pathname, search } = new URL(input instanceof Request ? input.url : String(input));
      const headers = new Headers(init?.headers);
      headers.set(forwardedHeader, "1");
      return send(`${pathname}${search}`, { ...init, headers });
    },
  });
}
