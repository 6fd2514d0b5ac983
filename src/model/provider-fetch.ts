// Sends requests to providers: through the proxies of the environment, and without the time limits of the HTTP client.

import type { EnvHttpProxyAgent } from "undici";

import { TuttiError } from "../protocol/error.ts";
import type { Environment } from "./resolve-model.ts";

/** The part of `fetch` that is used here. */
export type Fetch = typeof fetch;

/**
 * The client of Node gives up after 300 s without a header or without a byte. A local model may read a long prompt for
 * longer, and the limits of the provider's settings decide anyway.
 */
const noLimits = { headersTimeout: 0, bodyTimeout: 0 };

/** A `fetch` of its own for all calls of a process; its package is loaded by the first request. */
export function providerFetch(env: Environment): Fetch {
  let opening: Promise<Fetch> | undefined;
  return async (input, init) => {
    opening ??= openFetch(env);
    return (await opening)(input, init);
  };
}

async function openFetch(env: Environment): Promise<Fetch> {
  // A bundle has only the default export of a package that is written as CommonJS.
  const { default: undici } = await import("undici");
  const direct = new undici.Agent(noLimits);
  const proxies = proxiesIn(env);
  const proxied = proxies === undefined ? direct : proxyAgent(undici.EnvHttpProxyAgent, proxies);
  const send: unknown = undici.fetch;
  if (!isSend(send)) throw new TypeError("undici has no fetch");
  return (input, init) => send(input, { ...init, dispatcher: isLoopback(input) ? direct : proxied });
}

/** It does what the `fetch` of Node does; only the declarations of the types differ. */
type Send = (input: Parameters<Fetch>[0], init: object) => ReturnType<Fetch>;

function isSend(value: unknown): value is Send {
  return typeof value === "function";
}

interface Proxies {
  readonly httpProxy: string;
  readonly httpsProxy: string;
  readonly noProxy: string;
}

/** The variables that other programs read too; undefined when no proxy is set. */
function proxiesIn(env: Environment): Proxies | undefined {
  const valueOf = (name: string): string => (env[name.toLowerCase()] ?? env[name] ?? "").trim();
  const all = valueOf("ALL_PROXY");
  const httpProxy = valueOf("HTTP_PROXY") || all;
  const httpsProxy = valueOf("HTTPS_PROXY") || all || httpProxy;
  return httpProxy === "" && httpsProxy === "" ? undefined : { httpProxy, httpsProxy, noProxy: valueOf("NO_PROXY") };
}

function proxyAgent(make: typeof EnvHttpProxyAgent, proxies: Proxies): EnvHttpProxyAgent {
  try {
    return new make({ ...noLimits, ...proxies });
  } catch (thrown) {
    const message = "HTTP_PROXY or HTTPS_PROXY is not the address of a proxy; write it as http://proxy.example:8080";
    throw new TuttiError("invalid_input", message, { cause: thrown });
  }
}

/** A proxy cannot reach a server on this machine. */
function isLoopback(input: Parameters<Fetch>[0]): boolean {
  const address = typeof input === "string" || input instanceof URL ? String(input) : input.url;
  if (!URL.canParse(address)) return false;
  const { hostname } = new URL(address);
  return /^(?:localhost|.*\.localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname);
}
