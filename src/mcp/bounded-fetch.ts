// A fetch for servers elsewhere: encrypted unless the server is on this machine, only where a person agreed to, and with bounds on what is read.

import { TuttiError } from "../protocol/error.ts";

const longestBody = 32 * 2 ** 20;
/** A stream may bring so many events at once, and so many in each second after that. */
const burst = 1_000;
const perSecond = 200;

/** Throws `refused` for an address that may not be called. */
export function checkedUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined) throw new TuttiError("invalid_input", `${text} is no address`);
  const isHere = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(url.hostname);
  if (url.protocol === "https:" || (url.protocol === "http:" && isHere)) return url;
  throw new TuttiError("refused", `${text} is not encrypted; use https, which only this machine may do without`);
}

/** `transport` is what fetches. */
export function boundedFetch(transport: typeof fetch): typeof fetch {
  return async (input, init) => {
    const response = await withinOrigin(transport, input, init);
    if (response.body === null) return response;
    const isStream = response.headers.get("content-type")?.startsWith("text/event-stream") === true;
    return new Response(response.body.pipeThrough(counted(isStream)), response);
  };
}

const mostHops = 5;

/**
 * A person agrees to an address, and secrets may be in the headers that are sent there, so nobody is followed to another
 * server. Within the same server a request goes on as it is.
 */
async function withinOrigin(
  transport: typeof fetch,
  input: Parameters<typeof fetch>[0],
  init: RequestInit | undefined,
): Promise<Response> {
  let url = checkedUrl(input instanceof Request ? input.url : String(input));
  const method = init?.method ?? (input instanceof Request ? input.method : "GET");
  for (let hops = 0; ; hops += 1) {
    const response = await transport(hops === 0 ? input : url, { ...init, redirect: "manual" });
    const location = response.headers.get("location");
    if (response.status < 300 || response.status > 399 || location === null) return response;
    await response.body?.cancel();
    const next = URL.parse(location, url.href);
    const keepsMethod = response.status === 307 || response.status === 308 || method === "GET";
    // A request object has given its body away.
    const mayGo = keepsMethod && hops < mostHops && !(input instanceof Request && method !== "GET");
    if (next === null || next.origin !== url.origin || !mayGo) {
      const how = "write the address that is meant into the settings of the server";
      throw new TuttiError(
        "refused",
        `${url.origin} redirects to ${next?.origin ?? "nowhere"}, which is not followed; ${how}`,
      );
    }
    url = next;
  }
}

/** In a stream of events each event has the limit, elsewhere the whole body. Events may also not come too fast. */
function counted(isStream: boolean): TransformStream<Uint8Array, Uint8Array> {
  let size = 0;
  let allowance = burst;
  let countedAt = performance.now();
  const countEvents = isStream ? eventCounter() : () => 0;
  return new TransformStream({
    transform(chunk, controller) {
      const end = isStream ? chunk.lastIndexOf(0x0a) : -1;
      size = end === -1 ? size + chunk.length : chunk.length - end;
      const now = performance.now();
      allowance = Math.min(burst, allowance + ((now - countedAt) / 1000) * perSecond) - countEvents(chunk);
      countedAt = now;
      if (size > longestBody) {
        controller.error(new TuttiError("too_large", `the server sent more than ${longestBody} bytes at once`));
      } else if (allowance < 0) {
        controller.error(new TuttiError("slow_down", "the server sends more messages than anybody can read"));
      } else controller.enqueue(chunk);
    },
  });
}

/** How many events end in each chunk: an event ends with an empty line, and a line with CR, LF or both. */
function eventCounter(): (chunk: Uint8Array) => number {
  let isLineEmpty = true;
  let wasReturn = false;
  return (chunk) => {
    let events = 0;
    for (const byte of chunk) {
      const isSecondOfTwo = byte === 0x0a && wasReturn;
      wasReturn = byte === 0x0d;
      if (isSecondOfTwo) continue;
      const isEnd = byte === 0x0a || byte === 0x0d;
      if (isEnd && isLineEmpty) events += 1;
      isLineEmpty = isEnd;
    }
    return events;
  };
}
