// Asks a provider for its list of models, the cheapest request that shows whether it is reachable and accepts the key.

import { z } from "zod";

import type { Clock } from "../ports.ts";
import type { Fetch } from "./provider-fetch.ts";
import { keyAdvice, type ResolvedProvider } from "./resolve-model.ts";

export interface Probe {
  readonly reachable: boolean;
  /** What is wrong and what to do; absent when all is well. */
  readonly problem?: string;
  readonly tookMs: number;
  /** The models the provider lists, at most a thousand. */
  readonly models: readonly string[];
}

export interface ProbeDeps {
  readonly clock: Clock;
  readonly fetch: Fetch;
}

const maxBytes = 4 * 1024 * 1024;
const maxModels = 1_000;

const Named = z.object({ id: z.string().optional(), name: z.string().optional() });
const Listed = z.object({ data: z.array(Named).optional(), models: z.array(Named).optional() });

/** Never throws: a failure is part of the answer. */
export async function probeProvider(
  provider: ResolvedProvider,
  { clock, fetch, timeoutMs, signal }: ProbeDeps & { readonly timeoutMs: number; readonly signal: AbortSignal },
): Promise<Probe> {
  const started = clock.now();
  const stop = new AbortController();
  const late = clock.timer(timeoutMs, () => stop.abort(new Error(`no answer in ${timeoutMs} ms`)));
  const answer = (rest: Pick<Probe, "reachable" | "models"> & { readonly problem?: string }): Probe => ({
    ...rest,
    tookMs: clock.now() - started,
  });
  try {
    const response = await fetch(`${provider.baseUrl}/models`, {
      headers: { ...provider.settings.headers, ...keyHeaders(provider) },
      // A redirect would take the key to another server.
      redirect: "manual",
      signal: AbortSignal.any([stop.signal, signal]),
    });
    const text = await boundedText(response);
    if (response.status === 401 || response.status === 403) {
      return answer({ reachable: true, problem: `the key was not accepted; ${keyAdvice(provider)}`, models: [] });
    }
    if (response.status >= 300 && response.status < 400) {
      const problem = `${provider.baseUrl} redirects to another address, which is not followed; correct base_url`;
      return answer({ reachable: false, problem, models: [] });
    }
    // Not every compatible server lists its models; an answer of any kind is enough.
    if (!response.ok && response.status !== 404) {
      return answer({ reachable: false, problem: `answered with status ${response.status}`, models: [] });
    }
    return answer({ reachable: true, models: modelsIn(text) });
  } catch (thrown) {
    return answer({ reachable: false, problem: `${provider.baseUrl}: ${reasonOf(thrown)}`, models: [] });
  } finally {
    late();
    stop.abort();
  }
}

function keyHeaders({ kind, key }: ResolvedProvider): Record<string, string> {
  const version = kind === "anthropic" ? { "anthropic-version": "2023-06-01" } : {};
  if (key === undefined) return version;
  if (kind === "anthropic") return { ...version, "x-api-key": key };
  return kind === "google" ? { "x-goog-api-key": key } : { authorization: `Bearer ${key}` };
}

async function boundedText(response: Response): Promise<string> {
  const decoder = new TextDecoder();
  let [text, size] = ["", 0];
  for await (const chunk of response.body ?? []) {
    size += chunk.length;
    if (size > maxBytes) return "";
    text += decoder.decode(chunk, { stream: true });
  }
  return text;
}

function modelsIn(text: string): string[] {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return [];
  }
  const { data = [], models = [] } = Listed.safeParse(value).data ?? {};
  const ids = [...data, ...models].flatMap(({ id, name }) => id ?? name ?? []);
  return ids.map((id) => id.replace(/^models\//, "")).slice(0, maxModels);
}

function reasonOf(thrown: unknown): string {
  if (!(thrown instanceof Error)) return String(thrown);
  return thrown.cause instanceof Error ? thrown.cause.message : thrown.message;
}
