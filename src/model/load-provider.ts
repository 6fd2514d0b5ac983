// Loads a provider's package when its first model is called, and no other.

import type { LanguageModel } from "./language-model.ts";
import type { ResolvedModel, ResolvedProvider } from "./resolve-model.ts";

type MakeModel = (id: string) => LanguageModel;

/** A key must be passed even where none is needed, or the package looks for one in the process's environment. */
const noKey = "none";

async function loadProvider({ name, kind, baseUrl, key, settings }: ResolvedProvider): Promise<MakeModel> {
  const { headers = {} } = settings;
  const access = { baseURL: baseUrl, apiKey: key ?? noKey, headers };
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

/** Each provider is made once. */
export function providerLoader(): (model: ResolvedModel) => Promise<LanguageModel> {
  const made = new Map<string, Promise<MakeModel>>();
  return async ({ provider, id }) => {
    const make = made.get(provider.name) ?? loadProvider(provider);
    made.set(provider.name, make);
    return (await make)(id);
  };
}
