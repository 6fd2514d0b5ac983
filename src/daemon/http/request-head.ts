// Reads what a request is about before anything else is looked at: its target and its one Host.

import type { IncomingMessage } from "node:http";

import { type Refused, refuse } from "./refused.ts";

export interface RequestHead {
  /** As it came, still encoded. */
  readonly path: string;
  /** What follows the `?`. */
  readonly search: string;
  readonly authority: string;
}

/** Node drops what is past its own limit without a word, so it has to be above this. */
export const maxHeaders = 100;

export function readHead(request: IncomingMessage): RequestHead | { readonly refused: Refused } {
  const { rawHeaders, url = "" } = request;
  if (rawHeaders.length > 2 * maxHeaders) {
    return { refused: refuse("too_large", `a request has at most ${maxHeaders} headers`, { status: 431 }) };
  }
  const host = onlyHost(rawHeaders);
  if (host === undefined) return { refused: refuse("usage", "a request has one Host and at most one Authorization") };
  const target = url.startsWith("/") ? { authority: host, rest: url } : absoluteTarget(url);
  // Whoever stands between may go by the one where we go by the other.
  if (target === undefined || target.authority !== host) {
    return { refused: refuse("usage", "the target is not a path, or not one of the Host") };
  }
  const { rest } = target;
  const mark = rest.indexOf("?");
  return mark < 0
    ? { path: rest, search: "", authority: host }
    : { path: rest.slice(0, mark), search: rest.slice(mark + 1), authority: host };
}

/** Node keeps the first of several and says nothing. */
function onlyHost(raw: readonly string[]): string | undefined {
  let host: string | undefined;
  let bearers = 0;
  for (let index = 0; index < raw.length; index += 2) {
    const name = raw[index] ?? "";
    if (name.length === 4 && name.toLowerCase() === "host") {
      if (host !== undefined) return undefined;
      host = raw[index + 1];
    } else if (name.length === 13 && name.toLowerCase() === "authorization") bearers += 1;
  }
  return bearers > 1 ? undefined : host;
}

function absoluteTarget(url: string): { authority: string; rest: string } | undefined {
  const found = /^https?:\/\/([^/?#]+)(\/[^#]*)$/i.exec(url);
  return found === null ? undefined : { authority: found[1] ?? "", rest: found[2] ?? "" };
}
