// What the SDK's OAuth client keeps between calls: the client, the tokens, and the authorization server that a person confirmed.

import { randomBytes } from "node:crypto";

import {
  type OAuthClientMetadata,
  type OAuthClientProvider,
  type OAuthDiscoveryState,
  UnauthorizedError,
} from "@modelcontextprotocol/client";
import { z } from "zod";

import type { HttpServer } from "../protocol/invocation/mcp-servers.ts";
import { parseJson } from "../protocol/json/parse-json.ts";
import { forgetLogin, keepLogin, readLogin } from "./kept-logins.ts";

/** What a person confirmed when they logged in. Everything that was known is kept, so that nothing has to be asked for again. */
const Confirmed = z.looseObject({
  authorizationServerUrl: z.string(),
  authorizationServerMetadata: z.looseObject({
    issuer: z.string(),
    authorization_endpoint: z.string(),
    token_endpoint: z.string(),
    response_types_supported: z.array(z.string()),
  }),
});
export type Confirmed = OAuthDiscoveryState & z.infer<typeof Confirmed>;

/** What the SDK gives us to keep is given back as it was; its shapes are the SDK's. */
const Kept = z.object({
  client: z.looseObject({ client_id: z.string() }).optional(),
  tokens: z.looseObject({ access_token: z.string(), token_type: z.string() }).optional(),
  /** The scope that the server asked for when it last wanted a login. */
  wanted_scope: z.string().optional(),
  /** Absent in a login that an earlier version kept. */
  confirmed: Confirmed.optional(),
});
type Kept = z.infer<typeof Kept>;

export interface LoginPlace {
  readonly state: string;
  /** The hash of the server's settings: a server that moves elsewhere does not get the tokens. */
  readonly server: string;
  readonly url: string;
  readonly settings: HttpServer["oauth"];
}

/** A login in which a person takes part: only it may register a client. */
export interface AttendedLogin {
  /** Where the person comes back to. */
  readonly redirect: string;
  readonly confirmed: Confirmed;
}

export interface KeptLogin extends OAuthClientProvider {
  /** Whether the server has asked, since this was last called, for a login that only a person can do. */
  readonly wantsLogin: () => boolean;
  /** The scope that the server asked for when it last wanted a login. */
  readonly wantedScope: () => string | undefined;
  /** The only address besides the server itself that an unattended call may use. */
  readonly tokenEndpoint: () => string | undefined;
  /** Where the person logs in, once that is known. */
  readonly loginUrl: URL | undefined;
  /** The person must come back with this. */
  readonly expectedState: string;
}

const noRedirect = "http://127.0.0.1/callback";

export function oauthProvider({ state, server, settings }: LoginPlace, attended?: AttendedLogin): KeptLogin {
  const read = (): Kept => Kept.safeParse(parseJson(readLogin(state, server) ?? "{}")).data ?? {};
  const keep = (change: Kept): void => keepLogin(state, server, JSON.stringify({ ...read(), ...change }));
  const byItself = settings?.grant === "client_credentials";
  const expectedState = randomBytes(16).toString("hex");
  let verifier = "";
  let discovery: OAuthDiscoveryState | undefined = attended?.confirmed;
  let loginUrl: URL | undefined;
  let needsLogin = false;
  const redirect = attended?.redirect ?? noRedirect;
  const metadata: OAuthClientMetadata = {
    client_name: "Tutti",
    redirect_uris: [redirect],
    grant_types: byItself ? ["client_credentials"] : ["authorization_code", "refresh_token"],
    response_types: byItself ? [] : ["code"],
    token_endpoint_auth_method: settings?.client_secret === undefined ? "none" : "client_secret_basic",
    ...(settings?.scope === undefined ? {} : { scope: settings.scope }),
  };
  const registered = settings && {
    client_id: settings.client_id,
    ...(settings.client_secret === undefined ? {} : { client_secret: settings.client_secret }),
  };
  const client = () => registered ?? read().client;
  return {
    get redirectUrl() {
      return byItself ? undefined : redirect;
    },
    clientMetadata: metadata,
    wantsLogin() {
      const wants = needsLogin;
      needsLogin = false;
      return wants;
    },
    wantedScope: () => read().wanted_scope,
    tokenEndpoint: () => read().confirmed?.authorizationServerMetadata.token_endpoint,
    get loginUrl() {
      return loginUrl;
    },
    expectedState,
    state: () => expectedState,
    clientInformation: client,
    ...(registered === undefined && attended !== undefined
      ? { saveClientInformation: (made) => keep({ client: made }) }
      : {}),
    tokens: () => read().tokens,
    saveTokens: (tokens) => keep({ tokens, ...(attended === undefined ? {} : { confirmed: attended.confirmed }) }),
    // A login begins and ends in one process, so what is found in between need not outlive it.
    saveDiscoveryState(found) {
      discovery = found;
    },
    discoveryState() {
      const named = settings?.issuer === undefined ? undefined : { authorizationServerUrl: settings.issuer };
      const known = discovery ?? read().confirmed ?? named;
      if (known !== undefined || client() !== undefined) return known;
      // Nothing is asked of anybody for a login that a person has to begin.
      needsLogin = true;
      throw new UnauthorizedError();
    },
    redirectToAuthorization(target) {
      needsLogin = true;
      loginUrl = target;
      const scope = target.searchParams.get("scope");
      if (scope !== null && attended === undefined) keep({ wanted_scope: scope });
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
