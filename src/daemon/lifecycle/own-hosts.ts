// The names and addresses by which other machines may reach a daemon that listens beyond loopback.

import { hostname, networkInterfaces } from "node:os";

import { namesIn } from "./tls-files.ts";

/**
 * A request must name its host by one of these, or a page could reach the daemon under a name of its own. An address
 * cannot be such a name; neither can the machine's, nor those in the certificate its owner gave.
 */
export function ownHosts(host: string, certificate: string | undefined): string[] {
  const named = certificate === undefined ? [] : namesIn(certificate);
  if (host !== "0.0.0.0" && host !== "::") return named;
  const addresses = Object.values(networkInterfaces())
    .flatMap((each) => each ?? [])
    .map(({ address, family }) => (family === "IPv6" ? `[${address.replace(/%.*$/, "")}]` : address));
  return [...new Set([hostname().toLowerCase(), ...addresses, ...named])];
}
