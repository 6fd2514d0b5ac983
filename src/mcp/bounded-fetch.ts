// A fetch for servers elsewhere: encrypted unless the server is on this machine, and with bounds on what is read.

import { TuttiError } from "../protocol/error.ts";

const longestBody = 32 * 2 ** 20;

/** Throws `refused` for an address that may not be called. */
export function checkedUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined) throw new TuttiError("invalid_input", `${text} is no address`);
  const isHere = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(url.hostname);
  if (url.protocol === "https:" || (url.protocol === "http:" && isHere)) return url;
  throw new TuttiError("refused", `${text} is not encrypted; use https, which only this machine may do without`);
}

/** `transport` is what fetches; the global fetch when absent. */
export function boundedFetch(transport: typeof fetch = fetch): typeof fetch {
  return async (input, init) => {
    checkedUrl(input instanceof Request ? input.url : String(input));
    const response = await transport(input, init);
    if (response.body === null) return response;
    const isStream = response.headers.get("content-type")?.startsWith("text/event-stream") === true;
    return new Response(response.body.pipeThrough(counted(isStream)), response);
  };
}

/** In a stream of events each event has the limit, elsewhere the whole body. */
function counted(isStream: boolean): TransformStream<Uint8Array, Uint8Array> {
  let size = 0;
  return new TransformStream({
    transform(chunk, controller) {
      const end = isStream ? chunk.lastIndexOf(0x0a) : -1;
      size = end === -1 ? size + chunk.length : chunk.length - end;
      if (size <= longestBody) controller.enqueue(chunk);
      else controller.error(new TuttiError("too_large", `the server sent more than ${longestBody} bytes at once`));
    },
  });
}
