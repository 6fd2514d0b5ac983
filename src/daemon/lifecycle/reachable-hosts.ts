// The host names and addresses under which other machines may reach a daemon that does not listen on loopback.

import { hostname, networkInterfaces } from "node:os";

import { certificateNames } from "./tls-files.ts";

/**
 * A request must name one of these as its host. Otherwise a web page could reach the daemon under a domain name of its own
 * that resolves to this machine (DNS rebinding). Our addresses, the machine's name and the names in its certificate are safe.
 */
export function reachableHosts(host: string, certificate: string | undefined): string[] {
  const named = certificate === undefined ? [] : certificateNames(certificate);
  if (host !== "0.0.0.0" && host !== "::") return named;
  const addresses = Object.values(networkInterfaces())
    .flatMap((each) => each ?? [])
    .map(({ address, family }) => (family === "IPv6" ? `[${address.replace(/%.*$/, "")}]` : address));
  return [...new Set([hostname().toLowerCase(), ...addresses, ...named])];
}

/** A service that listens on every address is reached by the other nodes at the first that is no loopback. */
export function addressForNodes(host: string, url: string): string {
  if (host !== "0.0.0.0" && host !== "::") return url;
  const addresses = Object.values(networkInterfaces()).flatMap((each) => each ?? []);
  const own = addresses.find(({ internal, family }) => !internal && family === "IPv4")?.address;
  const at = new URL(url);
  if (own !== undefined) at.hostname = own;
  return at.origin;
}
