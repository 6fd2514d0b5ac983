// Looks for servers with models on this machine, such as Ollama, at the ports that they have unless somebody changed them.

import { z } from "zod";

import { parseJson } from "../../protocol/json/parse-json.ts";

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

const maxBytes = 1024 * 1024;
const Listed = z.object({ data: z.array(z.object({ id: z.string().min(1).max(200) })) });

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
  try {
    const response = await fetch(`${base_url}/models`, { redirect: "manual", signal });
    const text = response.ok ? await boundedText(response) : "";
    const { data } = Listed.parse(parseJson(text));
    const models = data.map(({ id }) => id).filter((id) => !/embed/i.test(id));
    return models.length === 0 ? undefined : { name, base_url, models };
  } catch {
    return undefined;
  }
}

async function boundedText(response: Response): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk, { stream: true });
    if (text.length > maxBytes) return "";
  }
  return text;
}
