// Where a daemon may listen: freely on loopback, elsewhere only with TLS or if the user explicitly accepts the risk.

import { BlockList, isIP } from "node:net";

/**
 * Used if no port is asked for. If it is in use, any free port is.
 * @internal Exported for its tests only.
 */
export const defaultPort = 7878;

export interface ListenRequest {
  readonly host?: string;
  /** 0 means any free port. */
  readonly port?: number;
  readonly tls: boolean;
  /** The user accepts to listen beyond loopback without TLS. */
  readonly insecure: boolean;
  /** The port of the daemon that last worked on this state folder, so that its clients find the new one. */
  readonly lastPort?: number | undefined;
}

export interface AcceptedListening {
  readonly host: string;
  /** To be tried in this order, the next one only if one is in use. */
  readonly ports: readonly number[];
  readonly loopback: boolean;
  readonly warning?: string;
}

export type ListenDecision =
  | (AcceptedListening & { readonly ok: true })
  | { readonly ok: false; readonly code: "usage" | "refused"; readonly message: string };

const loopback = new BlockList();
loopback.addSubnet("127.0.0.0", 8, "ipv4");
loopback.addAddress("::1", "ipv6");

export function isLoopback(address: string): boolean {
  const family = isIP(address);
  return family !== 0 && loopback.check(address, family === 4 ? "ipv4" : "ipv6");
}

export function decideListening(request: ListenRequest): ListenDecision {
  const given = (request.host ?? "127.0.0.1").replace(/^\[(.*)\]$/, "$1").toLowerCase();
  // A name server must not decide what localhost means.
  const host = given === "localhost" ? "127.0.0.1" : given;
  if (!isHost(host)) {
    const message = `${request.host} is not a host; give an address or a name, without a port`;
    return { ok: false, code: "usage", message };
  }
  const { port } = request;
  if (port !== undefined && !(Number.isInteger(port) && port >= 0 && port <= 65_535)) {
    return { ok: false, code: "usage", message: `${port} is not a port; give a number from 0 to 65535` };
  }
  const ports = port === undefined ? [...new Set([request.lastPort ?? defaultPort, defaultPort, 0])] : [port];
  if (isLoopback(host)) return { ok: true, host, ports, loopback: true };
  if (request.tls) return { ok: true, host, ports, loopback: false };
  if (request.insecure) {
    const warning = `${host} is reachable from other machines without TLS: keys and everything else are sent unencrypted`;
    return { ok: true, host, ports, loopback: false, warning };
  }
  return {
    ok: false,
    code: "refused",
    message: `${host} is reachable from other machines; give --tls-cert and --tls-key, or --insecure if anybody on the network may read everything`,
  };
}

const hostName = /^(?=.{1,253}$)[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*$/;

function isHost(host: string): boolean {
  return isIP(host) !== 0 || (hostName.test(host) && !/^[\d.]+$/.test(host));
}
