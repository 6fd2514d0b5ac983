// Asks a server that may speak OpenAI's chat completions for its models, and tells what came back.

import { z } from "zod";

import { parseJson } from "../../protocol/json/parse-json.ts";

export type ServerAnswer =
  /** The ids of its models; those that only make vectors are left out. */
  | { readonly kind: "models"; readonly models: readonly string[] }
  /** It wants a key, or another one than was sent. */
  | { readonly kind: "key" }
  /** No server was reached. */
  | { readonly kind: "silent"; readonly problem: string }
  /** Something answers that is no such server. */
  | { readonly kind: "other"; readonly problem: string };

const maxBytes = 1024 * 1024;
const Listed = z.object({ data: z.array(z.object({ id: z.string().min(1).max(200) })) });

/** Never throws. Only a list of models in the form of these servers counts: anything may listen on a port. */
export async function listServerModels(
  baseUrl: string,
  { key, signal }: { readonly key?: string | undefined; readonly signal: AbortSignal },
): Promise<ServerAnswer> {
  let response: Response;
  let text: string | undefined;
  try {
    const headers = key === undefined ? {} : { authorization: `Bearer ${key}` };
    // A redirect would take the key to another server.
    response = await fetch(`${baseUrl}/models`, { headers, redirect: "manual", signal });
    text = await boundedText(response);
  } catch (thrown) {
    return { kind: "silent", problem: reasonOf(thrown) };
  }
  if (response.status === 401 || response.status === 403) return { kind: "key" };
  if (!response.ok) return { kind: "other", problem: `it answers with status ${response.status}` };
  if (text === undefined) return { kind: "other", problem: "it answers with more than a list of models" };
  const listed = listedIn(text);
  if (listed === undefined) return { kind: "other", problem: "its answer is no list of models" };
  return { kind: "models", models: listed.filter((id) => !/embed/i.test(id)) };
}

function listedIn(text: string): string[] | undefined {
  try {
    return Listed.safeParse(parseJson(text)).data?.data.map(({ id }) => id);
  } catch {
    return undefined;
  }
}

/** Undefined when there is more than a list of models can have. */
async function boundedText(response: Response): Promise<string | undefined> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk, { stream: true });
    if (text.length > maxBytes) return undefined;
  }
  return text;
}

function reasonOf(thrown: unknown): string {
  if (!(thrown instanceof Error)) return String(thrown);
  return thrown.cause instanceof Error ? thrown.cause.message : thrown.message;
}
