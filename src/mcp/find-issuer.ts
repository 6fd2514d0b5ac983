// Where a server sends people to log in: what it says of that itself, what a person confirms, and what the confirmed one says of its endpoints.

import {
  discoverAuthorizationServerMetadata,
  discoverOAuthProtectedResourceMetadata,
  extractWWWAuthenticateParams,
} from "@modelcontextprotocol/client";

import { zoneOfHost } from "../core/address-zone.ts";
import { TuttiError } from "../protocol/error.ts";
import { checkedUrl } from "./bounded-fetch.ts";
import type { Confirmed } from "./oauth-provider.ts";

/** What a login would be sent to. */
interface LoginQuestion {
  /** The origin of the MCP server that names the issuer. */
  readonly server: string;
  readonly issuer: string;
  /** What the issuer says of its endpoints; absent as long as it was not asked. */
  readonly endpoints?: LoginEndpoints;
}

interface LoginEndpoints {
  /** Where the person logs in, with a browser. */
  readonly authorization: string;
  readonly token: string;
  /** Absent where no client can register itself. */
  readonly registration?: string;
}

export interface FindIssuer {
  /** Asks the person whether the login may go there. */
  readonly confirm: (question: LoginQuestion) => Promise<boolean>;
  /** The issuer that the person named beforehand: it is confirmed with its endpoints, and any other is refused. */
  readonly issuer?: string | undefined;
  /** Reaches only the server and what was passed to `open`. */
  readonly fetchFn: typeof fetch;
  readonly open: (url: URL) => void;
  readonly signal: AbortSignal;
}

/** The confirmed one, and the scope that the server asks for. Nothing but the server is asked before a person has agreed. */
export async function findIssuer(
  server: URL,
  options: FindIssuer,
): Promise<{
  readonly confirmed: Confirmed;
  readonly scope: string | undefined;
  readonly resourceMetadataUrl: URL | undefined;
}> {
  const { fetchFn, open } = options;
  const { resourceMetadataUrl, scope } = await challengeOf(server, options);
  const resource = await resourceMetadata(server, resourceMetadataUrl, fetchFn);
  const named = resource?.authorization_servers ?? [];
  const issuer = chosenIssuer(named.length === 0 ? [new URL("/", server).href] : named, options.issuer);
  const url = checkedUrl(issuer);
  if (url.origin !== server.origin) {
    await agree({ server: server.origin, issuer }, options);
    open(url);
  }
  const found = await discoverAuthorizationServerMetadata(issuer, { fetchFn });
  const metadata = found ?? {
    issuer,
    authorization_endpoint: new URL("/authorize", url).href,
    token_endpoint: new URL("/token", url).href,
    registration_endpoint: new URL("/register", url).href,
    response_types_supported: ["code"],
  };
  const { authorization_endpoint, token_endpoint, registration_endpoint } = metadata;
  checkInBrowser(server, authorization_endpoint);
  const asked = [token_endpoint, ...(registration_endpoint === undefined ? [] : [registration_endpoint])];
  const isKnown = (endpoint: string): boolean => [server.origin, url.origin].includes(checkedUrl(endpoint).origin);
  if (![authorization_endpoint, ...asked].every(isKnown)) {
    const registration = registration_endpoint === undefined ? {} : { registration: registration_endpoint };
    const endpoints = { authorization: authorization_endpoint, token: token_endpoint, ...registration };
    await agree({ server: server.origin, issuer, endpoints }, options);
  }
  for (const endpoint of asked) open(new URL(endpoint));
  const confirmed = {
    authorizationServerUrl: issuer,
    authorizationServerMetadata: metadata,
    ...(resource === undefined ? {} : { resourceMetadata: resource }),
    ...(resourceMetadataUrl === undefined ? {} : { resourceMetadataUrl: resourceMetadataUrl.href }),
  };
  return { confirmed, scope, resourceMetadataUrl };
}

/** What the server says to somebody whom it does not know: where its rules are, and what it asks for. */
async function challengeOf(
  server: URL,
  { fetchFn, signal }: Pick<FindIssuer, "fetchFn" | "signal">,
): Promise<Partial<ReturnType<typeof extractWWWAuthenticateParams>>> {
  const headers = { "content-type": "application/json", accept: "application/json, text/event-stream" };
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" });
  const response = await fetchFn(server, { method: "POST", headers, body, signal });
  await response.body?.cancel();
  return response.status === 401 ? extractWWWAuthenticateParams(response) : {};
}

/** Undefined for a server that has none: it is then its own issuer. */
async function resourceMetadata(
  server: URL,
  resourceMetadataUrl: URL | undefined,
  fetchFn: typeof fetch,
): Promise<Awaited<ReturnType<typeof discoverOAuthProtectedResourceMetadata>> | undefined> {
  try {
    const options = resourceMetadataUrl === undefined ? {} : { resourceMetadataUrl };
    return await discoverOAuthProtectedResourceMetadata(server, options, fetchFn);
  } catch (thrown) {
    if (thrown instanceof TuttiError || thrown instanceof TypeError) throw thrown;
    return undefined;
  }
}

function chosenIssuer(named: readonly string[], wanted: string | undefined): string {
  const chosen = wanted === undefined ? named[0] : named.find((each) => withoutSlash(each) === withoutSlash(wanted));
  if (chosen !== undefined) return chosen;
  throw new TuttiError("refused", `the server sends logins to ${named.slice(0, 8).join(", ")}, not to ${wanted ?? ""}`);
}

function withoutSlash(text: string): string {
  return text.replace(/\/$/, "");
}

async function agree(question: LoginQuestion, { issuer, confirm }: FindIssuer): Promise<void> {
  if (issuer !== undefined || (await confirm(question))) return;
  throw new TuttiError("canceled", `nothing was sent to ${question.issuer}, because you did not agree to it`);
}

/** Tutti does not request this address; a browser inside of the person's network does. */
function checkInBrowser(server: URL, endpoint: string): void {
  const { hostname } = checkedUrl(endpoint);
  const zone = zoneOfHost(hostname) ?? "public";
  if (zone === "public" || hostname === server.hostname || zoneOfHost(server.hostname) === "this machine") return;
  throw new TuttiError("refused", `${server.host} may not send your browser to ${hostname}`);
}
