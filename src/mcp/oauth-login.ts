// The login at an MCP server: a person confirms where it goes, logs in there with a browser, and what they get is kept.

import { auth } from "@modelcontextprotocol/client";

import { TuttiError } from "../protocol/error.ts";
import { checkedUrl } from "./bounded-fetch.ts";
import { type FindIssuer, findIssuer } from "./find-issuer.ts";
import { listenForReturn } from "./login-return.ts";
import { type LoginPlace, oauthProvider } from "./oauth-provider.ts";
import type { Resolve } from "./reached-addresses.ts";
import { serverFetch } from "./server-fetch.ts";

export interface LogIn extends Pick<FindIssuer, "confirm" | "issuer" | "signal"> {
  readonly onUrl: (url: string) => Promise<void>;
  /** The system's own when absent. */
  readonly resolve?: Resolve | undefined;
}

/** Listens on this machine for the person's return, tells where to log in, and keeps what the login gave. */
export async function logIn(place: LoginPlace, { onUrl, resolve, ...finding }: LogIn): Promise<void> {
  const server = checkedUrl(place.url);
  /** Grows with what the person confirms. */
  const confirmedOrigins = new Set<string>();
  const fetchFn = serverFetch({
    server,
    resolve,
    refuses: ({ origin }) => (confirmedOrigins.has(origin) ? undefined : notConfirmed(server, origin)),
  });
  const back = await listenForReturn(finding.signal);
  try {
    const open = ({ origin }: URL): unknown => confirmedOrigins.add(origin);
    const found = await findIssuer(server, { ...finding, fetchFn, open });
    const provider = oauthProvider(place, { redirect: back.url, confirmed: found.confirmed });
    const scope = provider.wantedScope() ?? found.scope;
    const { resourceMetadataUrl } = found;
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

function notConfirmed(server: URL, origin: string): TuttiError {
  const message = `${server.origin} names ${origin} for its login, where only what you confirm is asked; nothing was sent there`;
  return new TuttiError("refused", message);
}
