// Who a browser may speak for: the Host must be a name of ours (DNS rebinding), the Origin our own (cross-site requests).

import type { IncomingMessage } from "node:http";

import { type Refused, refuse } from "./refused.ts";

export interface OriginRules {
  readonly secure: boolean;
  /** Names the service is reached by besides loopback; one with a port allows that port, else ours and none. */
  readonly allowedHosts: readonly string[];
  /** Origins of pages that may use the API, such as `https://board.example`. */
  readonly allowedOrigins: readonly string[];
}

export interface OriginCheck {
  /** A refusal, or the foreign origin that is allowed by name. */
  (request: IncomingMessage, authority: string): { readonly refused?: Refused; readonly foreign?: string };
}

const loopbackNames = ["localhost", "127.0.0.1", "[::1]"];
const own = {};

export function originCheck(rules: OriginRules, port: number): OriginCheck {
  const scheme = rules.secure ? "https" : "http";
  const usual = port === (rules.secure ? 443 : 80);
  const hosts = new Set(loopbackNames.flatMap((name) => [`${name}:${port}`, ...(usual ? [name] : [])]));
  for (const name of rules.allowedHosts.map((each) => each.toLowerCase())) {
    hosts.add(name);
    if (!/:\d+$/.test(name)) hosts.add(`${name}:${port}`);
  }
  const origins = new Set(rules.allowedOrigins.map((origin) => origin.toLowerCase()));

  return (request, authority) => {
    if (!hosts.has(authority) && !hosts.has(authority.toLowerCase())) {
      const message =
        "this service is not known by the Host that was asked for; `tutti up --public-url URL` gives it another name";
      return { refused: refuse("refused", message, { status: 421 }) };
    }
    const { origin, "sec-fetch-site": site } = request.headers;
    if (origin === undefined && site === undefined) return own;
    if (origin !== undefined && origins.has(origin.toLowerCase())) return { foreign: origin };
    if (
      site === "cross-site" ||
      (origin !== undefined && origin.toLowerCase() !== `${scheme}://${authority.toLowerCase()}`)
    ) {
      return {
        refused: refuse(
          "refused",
          "pages of another origin may not use this service; `tutti up --public-url URL` names the one that may",
        ),
      };
    }
    return own;
  };
}
