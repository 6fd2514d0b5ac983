// Which addresses a name may lead to, for the requests that one MCP server causes: looked up once for each connection, judged, and used as they were judged.

import { type LookupAddress } from "node:dns";
import { lookup } from "node:dns/promises";
import type { LookupFunction } from "node:net";

import { type AddressZone, addressOfHost, addressZone, zoneOfHost } from "../core/address-zone.ts";
import { TuttiError } from "../protocol/error.ts";

/** Looks up all addresses of a name. */
export type Resolve = (hostname: string) => Promise<readonly LookupAddress[]>;

export const systemResolve: Resolve = (hostname) => lookup(hostname, { all: true });

export interface ReachedAddresses {
  /** Throws `refused` for a host that is an address to which this server may not lead. Says nothing of names. */
  readonly checkHost: (hostname: string) => void;
  /** For the connection itself: it gets the addresses that were judged, and nobody looks them up again. */
  readonly lookup: LookupFunction;
}

const inside: readonly AddressZone[] = ["private", "public"];

/**
 * A server may be where the person said that it is. A name that they gave may be one of a private network, yet not of this
 * machine unless it says so. Whatever else the server leads to must lie at least as far outside as the server itself.
 */
export function reachedAddresses(server: URL, resolve: Resolve): ReachedAddresses {
  const own = zoneOfHost(server.hostname);
  /** Where its name has led so far. Once it was public, the server counts as one from outside. */
  let seen: AddressZone | undefined = own;

  const allowed = (hostname: string): readonly AddressZone[] => {
    if (hostname === server.hostname) return own === undefined ? inside : [own];
    if (zoneOfHost(hostname) === "this machine" && seen !== "this machine") return [];
    if (seen === "this machine") return ["this machine", ...inside];
    return seen === "private" ? inside : ["public"];
  };
  const judge = (hostname: string, address: string): AddressZone => {
    const zone = addressZone(address);
    if (allowed(hostname).includes(zone)) return zone;
    const what = zone === "unusable" ? "at which no server can be" : `which is ${described[zone]}`;
    throw new TuttiError("refused", `${hostname} leads to ${address}, ${what}; ${server.host} may not lead there`);
  };
  const addressesOf = async (hostname: string): Promise<readonly LookupAddress[]> => {
    const found = await resolve(hostname);
    const zones = found.map(({ address }) => judge(hostname, address));
    if (hostname === server.hostname && own === undefined) {
      seen = seen === "public" || zones.includes("public") ? "public" : "private";
    }
    return found;
  };
  return {
    checkHost(hostname) {
      const address = addressOfHost(hostname);
      if (address !== undefined) judge(hostname, address);
      else if (allowed(hostname).length === 0) judge(hostname, "127.0.0.1");
    },
    lookup(hostname, options, callback) {
      addressesOf(hostname).then(
        (found) => {
          const wanted = options.family === 4 || options.family === 6 ? options.family : undefined;
          const usable = found.filter(({ family }) => wanted === undefined || family === wanted);
          const [first] = usable;
          if (first === undefined) callback(new Error(`${hostname} has no address`), "");
          else if (options.all === true) callback(null, [...usable]);
          else callback(null, first.address, first.family);
        },
        (thrown: unknown) => callback(thrown instanceof Error ? thrown : new Error(String(thrown)), ""),
      );
    },
  };
}

const described = {
  "this machine": "this machine",
  private: "in a private network",
  public: "outside",
} as const;
