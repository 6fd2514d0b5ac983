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
  const isDefaultPort = port === (rules.secure ? 443 : 80);
  const hosts = new Set(loopbackNames.flatMap((name) => [`${name}:${port}`, ...(isDefaultPort ? [name] : [])]));
  for (const name of rules.allowedHosts.map((each) => each.toLowerCase())) {
    hosts.add(name);
    if (!/:\d+$/.test(name)) hosts.add(`${name}:${port}`);
  }
  const origins = new Set(rules.allowedOrigins.map((origin) => origin.toLowerCase()));

  return (request, authority) => {
    if (!hosts.has(authority) && !hosts.has(authority.toLowerCase())) return { error: unknownHost };
    const { origin, "sec-fetch-site": site } = request.headers;
    if (origin === undefined && site === undefined) return sameOrigin;
    if (origin !== undefined && origins.has(origin.toLowerCase())) return { allowed: origin };
    if (site === "cross-site") return { error: foreignOrigin };
    if (origin !== undefined && origin.toLowerCase() !== `${scheme}://${authority.toLowerCase()}`) {
      return { error: foreignOrigin };
    }
    return sameOrigin;
  };
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
