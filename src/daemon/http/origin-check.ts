// Protects against web pages: the Host must be a name of this service (DNS rebinding), the Origin its own (cross-site requests).

import type { IncomingMessage } from "node:http";

import { type HttpError, httpError } from "./http-error.ts";

export interface OriginRules {
  readonly secure: boolean;
  /** Names of the service besides loopback. A name with a port allows that port; one without allows our port, or none. */
  readonly allowedHosts: readonly string[];
  /** Origins of other pages that may use the API, such as `https://board.example`. */
  readonly allowedOrigins: readonly string[];
}

/** `error` when the request must be refused; `allowed` when it comes from another origin that the rules allow. */
export type OriginCheck = (
  request: IncomingMessage,
  authority: string,
) => { readonly error?: HttpError; readonly allowed?: string };

const loopbackNames = ["localhost", "127.0.0.1", "[::1]"];
const sameOrigin = {};

export function originCheck(rules: OriginRules, port: number): OriginCheck {
  const scheme = rules.secure ? "https" : "http";
  const loopback = loopbackNames.map((name) => `${name}:${port}`);
  const hosts = new Set(loopback.map(withoutDefaultPort));
  for (const name of rules.allowedHosts.map((each) => each.toLowerCase())) {
    hosts.add(withoutDefaultPort(name));
    if (!/:\d+$/.test(name)) hosts.add(withoutDefaultPort(`${name}:${port}`));
  }
  const origins = new Set(rules.allowedOrigins.map(plainOrigin));
  // All loopback names with our port are this service, so a page that was opened under one may use another.
  const ownOrigins = new Set(loopback.map((host) => plainOrigin(`${scheme}://${host}`)));

  return (request, authority) => {
    const host = authority.toLowerCase();
    if (!hosts.has(withoutDefaultPort(host))) return { error: unknownHost };
    const { origin, "sec-fetch-site": site } = request.headers;
    if (origin === undefined) return site === "cross-site" ? { error: foreignOrigin } : sameOrigin;
    const from = plainOrigin(origin);
    const isHere = from === plainOrigin(`${scheme}://${host}`);
    if (origins.has(from) || (!isHere && ownOrigins.has(from) && loopback.includes(host))) return { allowed: origin };
    return isHere && site !== "cross-site" ? sameOrigin : { error: foreignOrigin };
  };
}

/** Clients leave the default port out, and proxies may add it. Which of the two it is depends on the proxy in front. */
function withoutDefaultPort(host: string): string {
  return host.replace(/:(?:80|443)$/, "");
}

/** As browsers write it: in lower case, and without the default port of its scheme. */
function plainOrigin(origin: string): string {
  return origin.toLowerCase().replace(/^(http:\/\/.*):80$|^(https:\/\/.*):443$/, "$1$2");
}

const unknownHost = httpError(
  "refused",
  "the Host of this request is not a name of this service; `tutti up --public-url URL` adds one",
  { status: 421 },
);

export const foreignOrigin = httpError(
  "refused",
  "pages of another origin may not use this service; `tutti up --public-url URL` allows one",
);
