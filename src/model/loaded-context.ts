// How long a conversation may be on a server of Ollama, which shortens longer ones without a word.

import { z } from "zod";

import type { Clock } from "../ports.ts";
import { TuttiError } from "../protocol/error.ts";
import type { Fetch } from "./provider-fetch.ts";
import type { ResolvedModel } from "./resolve-model.ts";

export interface LoadedContext {
  readonly tokens: number;
  /** Whether the server has not said it, so that the smallest usual context is assumed. */
  readonly assumed: boolean;
}

/** What Ollama loads on a machine with little memory for models. */
const smallest = 4_096;
/** The answer is used for this long: a person may load the model again with another context. */
const freshMs = 30_000;
/** Most servers answer at once; while one loads a model it may take long. */
const askMs = 5_000;
const loadMs = 10 * 60_000;

const Loaded = z.object({
  models: z.array(z.object({ name: z.string().optional(), model: z.string().optional(), context_length: z.number() })),
});
const Shown = z.object({ parameters: z.string().optional() });

export interface ContextDeps {
  readonly clock: Clock;
  readonly fetch: Fetch;
}

/** Undefined for every other server. */
export type ReadContext = (model: ResolvedModel, signal: AbortSignal) => Promise<LoadedContext | undefined>;

/** Asks each server at most every half minute. */
export function contextReader({ clock, fetch }: ContextDeps): ReadContext {
  const known = new Map<string, { readonly at: number; readonly found: LoadedContext }>();
  return async (model, signal) => {
    const root = ollamaRoot(model);
    if (root === undefined) return undefined;
    const key = `${root} ${model.id}`;
    const before = known.get(key);
    if (before !== undefined && clock.now() - before.at < freshMs) return before.found;
    const { key: secret, settings } = model.provider;
    const headers = { ...settings.headers, ...(secret === undefined ? {} : { authorization: `Bearer ${secret}` }) };
    const found = await read({ root, id: model.id, headers, fetch, signal });
    known.set(key, { at: clock.now(), found });
    return found;
  };
}

/** Its own API is beside the one that is compatible with OpenAI. */
function ollamaRoot({ provider: { name, kind, baseUrl } }: ResolvedModel): string | undefined {
  if (kind !== "openai-compatible" || !URL.canParse(baseUrl)) return undefined;
  const url = new URL(baseUrl);
  return name === "ollama" || url.port === "11434" ? baseUrl.replace(/\/v1$/, "") : undefined;
}

interface Question {
  readonly root: string;
  readonly id: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly fetch: Fetch;
  readonly signal: AbortSignal;
}

async function read(question: Question): Promise<LoadedContext> {
  const { id } = question;
  const loaded = await loadedContext(question);
  if (loaded !== undefined) return { tokens: loaded, assumed: false };
  // A request without a prompt loads the model as the next call would, and generates nothing.
  await ask(question, "/api/generate", { model: id, stream: false }, loadMs);
  const now = await loadedContext(question);
  if (now !== undefined) return { tokens: now, assumed: false };
  const shown = Shown.safeParse(await ask(question, "/api/show", { model: id }, askMs)).data;
  const set = Number(/^num_ctx\s+(\d+)\s*$/m.exec(shown?.parameters ?? "")?.[1] ?? Number.NaN);
  return set > 0 ? { tokens: set, assumed: false } : { tokens: smallest, assumed: true };
}

async function loadedContext(question: Question): Promise<number | undefined> {
  const { models } = Loaded.safeParse(await ask(question, "/api/ps", undefined, askMs)).data ?? { models: [] };
  // A name without a tag stands for its latest version.
  const names = [question.id, `${question.id}:latest`];
  const found = models.find(({ name = "", model = "" }) => names.includes(name) || names.includes(model));
  return found !== undefined && found.context_length > 0 ? found.context_length : undefined;
}

/** What the server answered; undefined when it cannot be used, whatever the reason. */
async function ask(
  { root, headers, fetch, signal }: Question,
  path: string,
  body: unknown,
  ms: number,
): Promise<unknown> {
  try {
    const response = await fetch(`${root}${path}`, {
      ...(body === undefined ? {} : { method: "POST", body: JSON.stringify(body) }),
      headers: { ...headers, "content-type": "application/json" },
      redirect: "manual",
      signal: AbortSignal.any([signal, AbortSignal.timeout(ms)]),
    });
    return response.ok ? await response.json() : undefined;
  } catch {
    if (signal.aborted) throw signal.reason;
    // The call itself will say what is wrong with the server.
    return undefined;
  }
}

/** The estimate of a request is rather too high, so a request that is only just too long by it is sent. */
const estimateShare = 0.875;

/** Throws `too_large` when the server would leave out part of the request; otherwise how long the reply may be. */
export function roomIn({ tokens }: LoadedContext, model: ResolvedModel, input: number): number {
  const likely = Math.floor(input * estimateShare);
  if (likely < tokens) return Math.max(tokens - likely, Math.ceil(tokens / 8));
  const message =
    `${model.name} is loaded with a context of ${tokens} tokens, and the request has about ${likely}; ` +
    "start Ollama with a larger OLLAMA_CONTEXT_LENGTH, such as 64000, or shorten the conversation";
  throw new TuttiError("too_large", message, { details: { model: model.name, limit: tokens } });
}

export function assumedText({ name }: ResolvedModel, { tokens }: LoadedContext): string {
  return (
    `${name}: the server does not say how long a conversation it has room for, so ${tokens} tokens are assumed; ` +
    "start Ollama with OLLAMA_CONTEXT_LENGTH=64000 for more"
  );
}
