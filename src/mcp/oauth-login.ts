// Logins at MCP servers: what the SDK's OAuth client keeps between calls, in private files of the state folder, and the login itself.

import { randomBytes } from "node:crypto";
import { createServer } from "node:http";

import {
  auth,
  extractWWWAuthenticateParams,
  type OAuthClientMetadata,
  type OAuthClientProvider,
  type OAuthDiscoveryState,
} from "@modelcontextprotocol/client";
import { z } from "zod";

import { TuttiError } from "../protocol/error.ts";
import type { HttpServer } from "../protocol/invocation/mcp-servers.ts";
import { parseJson } from "../protocol/json/parse-json.ts";
import { boundedFetch } from "./bounded-fetch.ts";
import { forgetLogin, keepLogin, readLogin } from "./kept-logins.ts";

/** What the SDK gives us to keep is given back as it was; its shapes are the SDK's. */
const Kept = z.object({
  client: z.looseObject({ client_id: z.string() }).optional(),
  tokens: z.looseObject({ access_token: z.string(), token_type: z.string() }).optional(),
  /** The scope that the server asked for when it last wanted a login. */
  wanted_scope: z.string().optional(),
});
type Kept = z.infer<typeof Kept>;

export interface LoginPlace {
  readonly state: string;
  /** The hash of the server's settings: a server that moves elsewhere does not get the tokens. */
  readonly server: string;
  readonly url: string;
  readonly settings: HttpServer["oauth"];
  /** Where the person comes back to after the login. Absent outside of a login. */
  readonly redirect?: string;
}

export interface KeptLogin extends OAuthClientProvider {
  /** Whether the server has asked, since this was last called, for a login that only a person can do. */
  readonly wantsLogin: () => boolean;
  /** The scope that the server asked for when it last wanted a login. */
  readonly wantedScope: () => string | undefined;
  /** Where the person logs in, once that is known. */
  readonly loginUrl: URL | undefined;
  /** The person must come back with this. */
  readonly expectedState: string;
}

export function oauthProvider({ state, server, settings, redirect }: LoginPlace): KeptLogin {
  const read = (): Kept => Kept.safeParse(parseJson(readLogin(state, server) ?? "{}")).data ?? {};
  const keep = (change: Kept): void => keepLogin(state, server, JSON.stringify({ ...read(), ...change }));
  const byItself = settings?.grant === "client_credentials";
  const expectedState = randomBytes(16).toString("hex");
  let verifier = "";
  let discovery: OAuthDiscoveryState | undefined;
  let loginUrl: URL | undefined;
  let needsLogin = false;
  const metadata: OAuthClientMetadata = {
    client_name: "Tutti",
    redirect_uris: [redirect ?? "http://127.0.0.1/callback"],
    grant_types: byItself ? ["client_credentials"] : ["authorization_code", "refresh_token"],
    response_types: byItself ? [] : ["code"],
    token_endpoint_auth_method: settings?.client_secret === undefined ? "none" : "client_secret_basic",
    ...(settings?.scope === undefined ? {} : { scope: settings.scope }),
  };
  const registered = settings && {
    client_id: settings.client_id,
    ...(settings.client_secret === undefined ? {} : { client_secret: settings.client_secret }),
  };
  return {
    get redirectUrl() {
      return byItself ? undefined : (redirect ?? "http://127.0.0.1/callback");
    },
    clientMetadata: metadata,
    wantsLogin() {
      const wants = needsLogin;
      needsLogin = false;
      return wants;
    },
    wantedScope: () => read().wanted_scope,
    get loginUrl() {
      return loginUrl;
    },
    expectedState,
    state: () => expectedState,
    clientInformation: () => registered ?? read().client,
    ...(registered === undefined ? { saveClientInformation: (client) => keep({ client }) } : {}),
    tokens: () => read().tokens,
    saveTokens: (tokens) => keep({ tokens }),
    // A login begins and ends in one process, so this need not outlive it.
    saveDiscoveryState(found) {
      discovery = found;
    },
    discoveryState: () => discovery,
    redirectToAuthorization(target) {
      needsLogin = true;
      loginUrl = target;
      const scope = target.searchParams.get("scope");
      if (scope !== null && redirect === undefined) keep({ wanted_scope: scope });
    },
    saveCodeVerifier(text) {
      verifier = text;
    },
    codeVerifier: () => verifier,
    invalidateCredentials(scope) {
      if (scope === "all" || scope === "client") forgetLogin(state, server);
      else if (scope === "tokens") keep({ tokens: undefined });
    },
    ...(byItself
      ? {
          prepareTokenRequest: (scope) =>
            new URLSearchParams({ grant_type: "client_credentials", ...(scope === undefined ? {} : { scope }) }),
        }
      : {}),
  };
}

/** Listens on this machine for the person's return, tells where to log in, and keeps what the login gave. */
export async function logIn(
  place: Omit<LoginPlace, "redirect">,
  { onUrl, signal }: { readonly onUrl: (url: string) => Promise<void>; readonly signal: AbortSignal },
): Promise<void> {
  const back = await listenForReturn(signal);
  try {
    const provider = oauthProvider({ ...place, redirect: back.url });
    const fetchFn = boundedFetch();
    const { resourceMetadataUrl, scope: challenged } = await challengeOf(place.url, { fetchFn, signal });
    const scope = provider.wantedScope() ?? challenged;
    const about = {
      serverUrl: place.url,
      fetchFn,
      ...(resourceMetadataUrl === undefined ? {} : { resourceMetadataUrl }),
      ...(scope === undefined ? {} : { scope }),
    };
    if ((await auth(provider, { ...about, forceReauthorization: true })) === "AUTHORIZED") return;
    if (provider.loginUrl === undefined) throw new TuttiError("unreachable", "the server says nothing of a login");
    await onUrl(provider.loginUrl.href);
    const returned = await back.returned;
    if (returned.get("state") !== provider.expectedState) {
      throw new TuttiError("refused", "somebody else came back from the login; try again");
    }
    const code = returned.get("code");
    if (code === null) throw new TuttiError("refused", "the login was not given; try again");
    const iss = returned.get("iss") ?? undefined;
    const options = { ...about, authorizationCode: code, ...(iss === undefined ? {} : { iss }) };
    if ((await auth(provider, options)) !== "AUTHORIZED") throw new TuttiError("refused", "the login was not accepted");
  } finally {
    back.close();
  }
}

/** What the server says to somebody whom it does not know: where its rules are, and what it asks for. */
async function challengeOf(
  url: string,
  { fetchFn, signal }: { readonly fetchFn: typeof fetch; readonly signal: AbortSignal },
): Promise<Partial<ReturnType<typeof extractWWWAuthenticateParams>>> {
  const headers = { "content-type": "application/json", accept: "application/json, text/event-stream" };
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" });
  const response = await fetchFn(url, { method: "POST", headers, body, signal });
  await response.body?.cancel();
  return response.status === 401 ? extractWWWAuthenticateParams(response) : {};
}

async function listenForReturn(signal: AbortSignal): Promise<{
  readonly url: string;
  readonly returned: Promise<URLSearchParams>;
  readonly close: () => void;
}> {
  const { promise, resolve, reject } = Promise.withResolvers<URLSearchParams>();
  promise.catch(() => undefined);
  const onAbort = (): void => reject(signal.reason);
  signal.addEventListener("abort", onAbort, { once: true });
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? "/", "http://127.0.0.1");
    if (request.method !== "GET" || url.pathname !== "/callback") {
      response.writeHead(404).end();
      return;
    }
    response.writeHead(200, { "content-type": "text/plain; charset=utf-8", connection: "close" });
    response.end("You can close this page and go back to the terminal.\n");
    resolve(url.searchParams);
  });
  await new Promise<void>((done, failed) => {
    server.once("error", failed);
    server.listen(0, "127.0.0.1", done);
  });
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}/callback`,
    returned: promise,
    close() {
      signal.removeEventListener("abort", onAbort);
      server.closeAllConnections();
      server.close();
    },
  };
}
