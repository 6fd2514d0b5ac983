// Decides whether a model runs on a server of the user's own, for which nobody sends a bill.

import { BlockList, isIP } from "node:net";

import type { ResolvedProvider } from "./resolve-model.ts";

const own = new BlockList();
own.addSubnet("127.0.0.0", 8, "ipv4");
own.addSubnet("10.0.0.0", 8, "ipv4");
own.addSubnet("172.16.0.0", 12, "ipv4");
own.addSubnet("192.168.0.0", 16, "ipv4");
own.addAddress("::1", "ipv6");
own.addSubnet("fc00::", 7, "ipv6");
own.addSubnet("fe80::", 10, "ipv6");

/** A compatible server on this machine or at a private address. The services of the providers themselves are none. */
export function isOwnServer({ kind, baseUrl }: Pick<ResolvedProvider, "kind" | "baseUrl">): boolean {
  if (kind !== "openai-compatible" || !URL.canParse(baseUrl)) return false;
  const host = new URL(baseUrl).hostname.replaceAll(/^\[|\]$/g, "");
  if (host === "localhost" || host.endsWith(".localhost")) return true;
  const family = isIP(host);
  return family !== 0 && own.check(host, family === 6 ? "ipv6" : "ipv4");
}
