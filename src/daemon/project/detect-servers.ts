// Looks for servers with models on this machine, such as Ollama, at the ports that they have unless somebody changed them.

import { zoneOfHost } from "../../core/address-zone.ts";
import { listServerModels } from "./list-server-models.ts";

export interface FoundServer {
  /** The name of its provider. */
  readonly name: string;
  readonly base_url: string;
  /** The ids of its models; those that only make vectors are left out. */
  readonly models: readonly string[];
}

interface KnownServer {
  readonly name: string;
  readonly port: number;
}

const knownServers: readonly KnownServer[] = [
  { name: "ollama", port: 11_434 },
  { name: "lmstudio", port: 1_234 },
  { name: "llamacpp", port: 8_080 },
  { name: "vllm", port: 8_000 },
];

/** Only a server that lists its models in the way of these servers counts: anything may listen on such a port. */
export async function detectServers(
  { timeoutMs, signal }: { readonly timeoutMs: number; readonly signal: AbortSignal },
  servers: readonly KnownServer[] = knownServers,
): Promise<FoundServer[]> {
  const limit = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
  const found = await Promise.all(servers.map((server) => askForModels(server, limit)));
  return found.filter((each) => each !== undefined);
}

async function askForModels({ name, port }: KnownServer, signal: AbortSignal): Promise<FoundServer | undefined> {
  const base_url = `http://127.0.0.1:${port}/v1`;
  const answer = await listServerModels(base_url, { signal });
  return answer.kind === "models" && answer.models.length > 0 ? { name, base_url, models: answer.models } : undefined;
}

/** The name that a server has where nobody gives it another: by its port on this machine, else by its host. */
export function usualServerName(url: URL): string {
  const known = knownServers.find(({ port }) => String(port) === url.port);
  if (known !== undefined && zoneOfHost(url.hostname) === "this machine") return known.name;
  const name = url.hostname.replaceAll(/[^a-z0-9]+/gi, "-").replaceAll(/^-+|-+$/g, "");
  return zoneOfHost(url.hostname) === "this machine" || name === "" ? "local" : name;
}
