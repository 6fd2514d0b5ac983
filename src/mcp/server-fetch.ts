// The fetch for everything that one MCP server causes: it goes to the origin that a person agreed to and to what they confirmed besides, at addresses that were judged.

import { TuttiError } from "../protocol/error.ts";
import { boundedFetch } from "./bounded-fetch.ts";
import { reachedAddresses, type Resolve, systemResolve } from "./reached-addresses.ts";

export interface ServerReach {
  /** The address that the person agreed to. */
  readonly server: URL;
  /** Why a request to another origin may not be made; undefined when a person confirmed what it goes to. */
  readonly refuses: (url: URL, method: string) => TuttiError | undefined;
  /** The system's own when absent. */
  readonly resolve?: Resolve | undefined;
}

/** Each hop of a redirect is judged like a request of its own. */
export function serverFetch({ server, refuses, resolve = systemResolve }: ServerReach): typeof fetch {
  const { checkHost, lookup } = reachedAddresses(server, resolve);
  let opening: Promise<typeof fetch> | undefined;
  return boundedFetch(async (input, init) => {
    const given = input instanceof Request ? input.url : String(input);
    const url = new URL(given);
    const method = init?.method ?? (input instanceof Request ? input.method : "GET");
    const refusal = url.origin === server.origin ? undefined : refuses(url, method);
    if (refusal !== undefined) throw refusal;
    checkHost(url.hostname);
    opening ??= openFetch(lookup);
    try {
      return await (
        await opening
      )(input, init);
    } catch (thrown) {
      throw causeOf(thrown) ?? thrown;
    }
  });
}

type Lookup = ReturnType<typeof reachedAddresses>["lookup"];

/** Its package is loaded by the first request. */
async function openFetch(lookup: Lookup): Promise<typeof fetch> {
  // A bundle has only the default export of a package that is written as CommonJS.
  const { default: undici } = await import("undici");
  const dispatcher = new undici.Agent({ connect: { lookup } });
  const send: unknown = undici.fetch;
  if (!isSend(send)) throw new TypeError("undici has no fetch");
  return (input, init) => send(input, { ...init, dispatcher });
}

/** It does what the `fetch` of Node does; only the declarations of the types differ. */
type Send = (input: Parameters<typeof fetch>[0], init: object) => ReturnType<typeof fetch>;

function isSend(value: unknown): value is Send {
  return typeof value === "function";
}

/** What kept a connection from being made is hidden below the failure of the fetch. */
function causeOf(thrown: unknown): TuttiError | undefined {
  if (!(thrown instanceof Error)) return undefined;
  return thrown.cause instanceof TuttiError ? thrown.cause : undefined;
}
