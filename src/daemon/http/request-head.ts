// Reads the head of a request: its path and query, and its one Host.

import type { IncomingMessage } from "node:http";

import { type HttpError, httpError } from "./http-error.ts";

export interface RequestHead {
  /** Still percent-encoded. */
  readonly path: string;
  /** What follows the `?`. */
  readonly search: string;
  readonly authority: string;
}

/** Node silently drops headers above its own limit, so that one must be higher than this. */
export const maxHeaders = 100;

export function readHead(request: IncomingMessage): RequestHead | { readonly error: HttpError } {
  const { rawHeaders, url = "" } = request;
  if (rawHeaders.length > 2 * maxHeaders) {
    return { error: httpError("too_large", `a request may have at most ${maxHeaders} headers`, { status: 431 }) };
  }
  const host = singleHost(rawHeaders);
  if (host === undefined) {
    return { error: httpError("usage", "a request must have one Host and at most one Authorization header") };
  }
  const target = url.startsWith("/") ? { authority: host, rest: url } : absoluteTarget(url);
  // A proxy in front of the service may go by the target where we go by the Host, so they must not differ.
  if (target === undefined || target.authority !== host) {
    return { error: httpError("usage", "the request target must be a path, or a URL of the Host") };
  }
  const { rest } = target;
  const mark = rest.indexOf("?");
  return mark < 0
    ? { path: rest, search: "", authority: host }
    : { path: rest.slice(0, mark), search: rest.slice(mark + 1), authority: host };
}

/** Undefined when there is no Host, or more than one of Host or Authorization, of which Node would silently keep the first. */
function singleHost(raw: readonly string[]): string | undefined {
  let host: string | undefined;
  let authorizations = 0;
  for (let index = 0; index < raw.length; index += 2) {
    const name = raw[index] ?? "";
    if (name.length === 4 && name.toLowerCase() === "host") {
      if (host !== undefined) return undefined;
      host = raw[index + 1];
    } else if (name.length === 13 && name.toLowerCase() === "authorization") authorizations += 1;
  }
  return authorizations > 1 ? undefined : host;
}

function absoluteTarget(url: string): { authority: string; rest: string } | undefined {
  const found = /^https?:\/\/([^/?#]+)(\/[^#]*)$/i.exec(url);
  return found === null ? undefined : { authority: found[1] ?? "", rest: found[2] ?? "" };
}
