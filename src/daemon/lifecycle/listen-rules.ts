// Where a daemon may listen: on loopback as it likes, beyond it only with TLS or when that was asked for in so many words.

import { BlockList, isIP } from "node:net";

/**
 * Taken when no port is asked for; when it is in use, a free one is.
 * @internal Exported for its tests only.
 */
export const defaultPort = 7878;

export interface ListenWish {
  readonly host?: string;
  /** 0: any that is free. */
  readonly port?: number;
  readonly tls: boolean;
  /** Beyond loopback without TLS. */
  readonly insecure: boolean;
  /** Where the daemon of this state listened the last time, so that who follows it finds it again. */
  readonly lastPort?: number | undefined;
}

export type ListenRuling =
  | {
      readonly ok: true;
      readonly host: string;
      /** To be tried in this order; the next one only when one is in use. */
      readonly ports: readonly number[];
      readonly loopback: boolean;
      /** What its owner should know about it. */
      readonly warning?: string;
    }
  | { readonly ok: false; readonly code: "usage" | "refused"; readonly message: string };

const loopback = new BlockList();
loopback.addSubnet("127.0.0.0", 8, "ipv4");
loopback.addAddress("::1", "ipv6");

/** @internal Exported for its tests only. */
export function isLoopback(address: string): boolean {
  const family = isIP(address);
  return family !== 0 && loopback.check(address, family === 4 ? "ipv4" : "ipv6");
}

export function listenRuling(wish: ListenWish): ListenRuling {
  const given = (wish.host ?? "127.0.0.1").replace(/^\[(.*)\]$/, "$1").toLowerCase();
  // What the name means is not left to whoever answers for names.
  const host = given === "localhost" ? "127.0.0.1" : given;
  if (!isHost(host)) {
    return { ok: false, code: "usage", message: `${wish.host} is no host; give an address or a name, without a port` };
  }
  const { port } = wish;
  if (port !== undefined && !(Number.isInteger(port) && port >= 0 && port <= 65_535)) {
    return { ok: false, code: "usage", message: `${port} is no port; give 0 to 65535` };
  }
  const ports = port === undefined ? [...new Set([wish.lastPort ?? defaultPort, defaultPort, 0])] : [port];
  if (isLoopback(host)) return { ok: true, host, ports, loopback: true };
  if (wish.tls) return { ok: true, host, ports, loopback: false };
  if (wish.insecure) {
    const warning = `${host} is reachable from other machines and there is no TLS: keys and everything else travel in the clear`;
    return { ok: true, host, ports, loopback: false, warning };
  }
  return {
    ok: false,
    code: "refused",
    message: `${host} is reachable from other machines; give --tls-cert and --tls-key, or --insecure if the network may read everything`,
  };
}

const name = /^(?=.{1,253}$)[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*$/;

function isHost(host: string): boolean {
  return isIP(host) !== 0 || (name.test(host) && !/^[\d.]+$/.test(host));
}
