// Loads the package of a provider when its first model is called.

import type { Fetch } from "./provider-fetch.ts";
import type { LanguageModel } from "./language-model.ts";
import type { ResolvedModel, ResolvedProvider } from "./resolve-model.ts";

type MakeModel = (id: string) => LanguageModel;

/** Passed when no key is needed: without any key the package would look for one in the environment of the process. */
const noKey = "none";

async function loadProvider({ name, kind, baseUrl, key, settings }: ResolvedProvider, send: Fetch): Promise<MakeModel> {
  const { headers = {} } = settings;
  // A redirect would take the key, which is in a header, to another server.
  const fetchWithoutRedirect: Fetch = (input, init) => send(input, { ...init, redirect: "manual" });
  const access = { baseURL: baseUrl, apiKey: key ?? noKey, headers, fetch: fetchWithoutRedirect };
  switch (kind) {
    case "anthropic": {
      const { createAnthropic } = await import("@ai-sdk/anthropic");
      const provider = createAnthropic(access);
      return (id) => provider.languageModel(id);
    }
    case "openai": {
      const { createOpenAI } = await import("@ai-sdk/openai");
      const provider = createOpenAI(access);
      return (id) => provider.responses(id);
    }
    case "google": {
      const { createGoogle } = await import("@ai-sdk/google");
      const provider = createGoogle(access);
      return (id) => provider.languageModel(id);
    }
    case "openai-compatible": {
      const { createOpenAICompatible } = await import("@ai-sdk/openai-compatible");
      const { apiKey, ...open } = access;
      const provider = createOpenAICompatible({
        ...open,
        ...(key === undefined ? {} : { apiKey }),
        name,
        includeUsage: true,
      });
      return (id) => provider.languageModel(id);
    }
  }
}

/** Each provider is created once for each key and address. */
export function providerLoader(send: Fetch): (model: ResolvedModel) => Promise<LanguageModel> {
  const made = new Map<string, Promise<MakeModel>>();
  return async ({ provider, id }) => {
    const access = JSON.stringify([provider.name, provider.baseUrl, provider.key ?? null]);
    const make = made.get(access) ?? loadProvider(provider, send);
    made.set(access, make);
    return (await make)(id);
  };
}
