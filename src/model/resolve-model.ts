// Resolves the name of a model to everything a call needs: provider, address, key, price, format and limits.

import { TuttiError } from "../protocol/error.ts";
import type { ModelFacts, ModelFormat } from "../model-port.ts";
import type { LanguageModel } from "./language-model.ts";
import { limitsOf } from "./model-limits.ts";
import type { ModelSettings, ModelsConfig, ProviderKind, ProviderSettings, SendReasoning } from "./models-config.ts";
import type { Price } from "../protocol/invocation/model-price.ts";
import { priceOf, priceTable } from "./prices.ts";
import { trimEndOf } from "../protocol/trim-end.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

export interface ModelSetup {
  readonly config: ModelsConfig;
  readonly env: Environment;
  /** A key that is kept for the provider; used when the environment has none. */
  readonly storedKey?: ((provider: string) => string | undefined) | undefined;
  /** Takes precedence over all other prices. */
  readonly prices?: Readonly<Record<string, Price>>;
  /** Models that a program has made itself, by their names; they go before those of providers. */
  readonly objects?: ReadonlyMap<string, LanguageModel> | undefined;
}

/** `login`: it was kept with `tutti models login`. */
export type KeyOrigin = { readonly from: "environment"; readonly variable: string } | { readonly from: "login" };

export interface ResolvedProvider {
  readonly name: string;
  readonly kind: ProviderKind;
  readonly baseUrl: string;
  /** The environment variables that may hold the key, in order; empty when none is needed. */
  readonly keyEnv: readonly string[];
  readonly key: string | undefined;
  /** Where the key comes from; undefined when there is none. */
  readonly keyFrom: KeyOrigin | undefined;
  readonly settings: ProviderSettings;
}

export interface ResolvedModel extends ModelFacts {
  /** `provider/model`, aliases resolved. */
  readonly name: string;
  /** The name the provider has for the model. */
  readonly id: string;
  readonly provider: ResolvedProvider;
  readonly price: Price | null;
  /** Whether the reasoning of earlier replies is sent back. */
  readonly sendReasoning: SendReasoning;
  /** For requests that do not set it themselves. */
  readonly settings: ModelSettings;
  /** The model itself, when a program has made it. */
  readonly language?: LanguageModel;
}

interface Preset {
  readonly kind: ProviderKind;
  readonly baseUrl: string;
  readonly keyEnv: readonly string[];
  readonly baseEnv?: string;
}

const presets: Readonly<Record<string, Preset>> = {
  anthropic: {
    kind: "anthropic",
    baseUrl: "https://api.anthropic.com/v1",
    keyEnv: ["ANTHROPIC_API_KEY"],
    baseEnv: "ANTHROPIC_BASE_URL",
  },
  openai: {
    kind: "openai",
    baseUrl: "https://api.openai.com/v1",
    keyEnv: ["OPENAI_API_KEY"],
    baseEnv: "OPENAI_BASE_URL",
  },
  google: {
    kind: "google",
    baseUrl: "https://generativelanguage.googleapis.com/v1beta",
    keyEnv: ["GOOGLE_GENERATIVE_AI_API_KEY", "GEMINI_API_KEY"],
    baseEnv: "GOOGLE_GENERATIVE_AI_BASE_URL",
  },
  openrouter: {
    kind: "openai-compatible",
    baseUrl: "https://openrouter.ai/api/v1",
    keyEnv: ["OPENROUTER_API_KEY"],
  },
  ollama: { kind: "openai-compatible", baseUrl: "http://localhost:11434/v1", keyEnv: [], baseEnv: "OLLAMA_BASE_URL" },
};

/** Short names that existing agent definitions use. An alias in the config takes precedence. */
export const shortNames: Readonly<Record<string, string>> = {
  fable: "anthropic/claude-fable-5-2",
  opus: "anthropic/claude-opus-5-5",
  sonnet: "anthropic/claude-sonnet-5-5",
  haiku: "anthropic/claude-haiku-5-5",
};

const maxAliases = 8;

export function providerNames(config: ModelsConfig): string[] {
  return [...new Set([...Object.keys(presets), ...Object.keys(config.providers)])];
}

/** Follows aliases and short names. The result need not be the name of an existing model. */
export function canonicalName(config: ModelsConfig, asked: string): string {
  let name = asked;
  for (let hops = 0; Object.hasOwn(config.aliases, name); hops += 1) {
    if (hops === maxAliases) throw new TuttiError("invalid_input", `the alias ${asked} leads in a circle`);
    name = config.aliases[name] ?? name;
  }
  if (name.includes("/")) return name;
  if (Object.hasOwn(shortNames, name)) return shortNames[name] ?? name;
  return name.startsWith("claude-") ? `anthropic/${name}` : name;
}

/** Throws `invalid_input` or `not_found` with what to write instead. A missing key is an error only when the model is called. */
export function resolveModel(setup: ModelSetup, asked: string): ResolvedModel {
  const { config } = setup;
  const name = canonicalName(config, asked);
  const language = setup.objects?.get(name);
  if (language !== undefined) return resolveObject(setup, name, language);
  const slash = name.indexOf("/");
  const id = name.slice(slash + 1);
  if (slash <= 0 || id === "") {
    const aliases = Object.keys(config.aliases).join(", ");
    throw new TuttiError(
      "invalid_input",
      `the model ${JSON.stringify(asked)} has no provider; write provider/model, as anthropic/claude-sonnet-5-5` +
        (aliases === "" ? "" : `, or one of the aliases ${aliases}`),
    );
  }
  const provider = resolveProvider(setup, name.slice(0, slash));
  const settings = config.models[name];
  const limits = limitsOf(
    provider.kind === "openai-compatible" ? name : `${provider.kind}/${id}`,
    settings?.context_tokens,
  );
  return {
    name,
    id,
    provider,
    price: priceOf(name, [setup.prices ?? {}, config.prices, priceTable]),
    ...formatOf(settings?.format, provider),
    fallbacks: fallbacksOf(config, name),
    profile: settings?.profile ?? provider.settings.profile ?? "tolerant",
    sendReasoning: settings?.send_reasoning ?? provider.settings.send_reasoning ?? "auto",
    settings: settings ?? {},
    contextTokens: limits.contextTokens,
    maxOutputTokens: settings?.max_output_tokens ?? limits.maxOutputTokens,
    mostOutputTokens: settings?.max_output_tokens ?? limits.mostOutputTokens,
  };
}

/** The program has chosen address and key itself. Its provider is known by name, which says how it is called. */
function resolveObject(setup: ModelSetup, name: string, language: LanguageModel): ResolvedModel {
  const { config } = setup;
  const maker = name.slice(0, name.indexOf("/"));
  const kind = objectKinds.find((each) => each === maker) ?? "openai-compatible";
  const known = `${maker}/${language.modelId}`;
  const settings = config.models[name];
  const limits = limitsOf(known, settings?.context_tokens);
  const own = config.providers[maker] ?? {};
  const provider: ResolvedProvider = {
    name: maker,
    kind,
    baseUrl: "",
    keyEnv: [],
    key: undefined,
    keyFrom: undefined,
    settings: { concurrency: 256, ...own },
  };
  return {
    name,
    id: language.modelId,
    language,
    provider,
    price: priceOf(known, [setup.prices ?? {}, config.prices, priceTable]),
    ...formatOf(settings?.format, provider),
    fallbacks: fallbacksOf(config, name),
    profile: settings?.profile ?? "tolerant",
    sendReasoning: settings?.send_reasoning ?? "auto",
    settings: settings ?? {},
    contextTokens: limits.contextTokens,
    maxOutputTokens: settings?.max_output_tokens ?? limits.maxOutputTokens,
    mostOutputTokens: settings?.max_output_tokens ?? limits.mostOutputTokens,
  };
}

const objectKinds: readonly ProviderKind[] = ["anthropic", "openai", "google"];

/** Without a setting the tools are offered; a server that refuses them gets calls in the text from then on. */
function formatOf(
  own: "auto" | ModelFormat | undefined,
  provider: ResolvedProvider,
): Pick<ModelFacts, "format" | "formatMayChange"> {
  const chosen = own === undefined || own === "auto" ? provider.settings.format : own;
  const isSet = chosen !== undefined && chosen !== "auto";
  return { format: isSet ? chosen : "native", formatMayChange: !isSet };
}

/** Whether the config lists them under the model's own name or under an alias. */
function fallbacksOf(config: ModelsConfig, name: string): readonly string[] {
  const found = Object.entries(config.fallbacks).find(([model]) => canonicalName(config, model) === name);
  return found?.[1] ?? [];
}

export function resolveProvider({ config, env, storedKey }: ModelSetup, name: string): ResolvedProvider {
  const preset = Object.hasOwn(presets, name) ? presets[name] : undefined;
  const settings = Object.hasOwn(config.providers, name) ? config.providers[name] : undefined;
  if (preset === undefined && settings === undefined) {
    throw new TuttiError(
      "not_found",
      `there is no model provider ${name}; there are: ${providerNames(config).join(", ")}`,
    );
  }
  const kind = settings?.kind ?? preset?.kind;
  const fromEnv = preset?.baseEnv === undefined ? undefined : env[preset.baseEnv];
  const base = settings?.base_url ?? (fromEnv === "" ? undefined : fromEnv) ?? preset?.baseUrl;
  if (kind === undefined) throw new TuttiError("invalid_input", `the provider ${name} needs a kind in the config`);
  if (base === undefined) throw new TuttiError("invalid_input", `the provider ${name} needs a base_url in the config`);
  const keyEnv = keyVariables(settings, preset);
  return {
    name,
    kind,
    baseUrl: apiUrl(kind, base),
    keyEnv,
    ...findKey(name, keyEnv, { env, storedKey }),
    settings: settings ?? {},
  };
}

function findKey(
  name: string,
  keyEnv: readonly string[],
  { env, storedKey }: Pick<ModelSetup, "env" | "storedKey">,
): Pick<ResolvedProvider, "key" | "keyFrom"> {
  for (const variable of keyEnv) {
    const key = env[variable]?.trim() ?? "";
    if (key !== "") return { key, keyFrom: { from: "environment", variable } };
  }
  const stored = keyEnv.length === 0 ? undefined : storedKey?.(name);
  return { key: stored, keyFrom: stored === undefined ? undefined : { from: "login" } };
}

function keyVariables(settings: ProviderSettings | undefined, preset: Preset | undefined): readonly string[] {
  if (settings?.key_env === null) return [];
  return settings?.key_env === undefined ? (preset?.keyEnv ?? []) : [settings.key_env];
}

/** Other tools give Anthropic's address without the version, so it is added. */
function apiUrl(kind: ProviderKind, base: string): string {
  const trimmed = trimEndOf(base, "/");
  return kind === "anthropic" && URL.canParse(trimmed) && new URL(trimmed).pathname === "/" ? `${trimmed}/v1` : trimmed;
}

/** What a person can do about a key that was not accepted: it names the place that the key came from. */
export function keyAdvice({ name, keyEnv, keyFrom }: Pick<ResolvedProvider, "name" | "keyEnv" | "keyFrom">): string {
  if (keyFrom?.from === "login")
    return `it used the key that is kept for ${name}; keep another with \`tutti models login ${name}\``;
  if (keyFrom?.from === "environment") return `check ${keyFrom.variable}`;
  return keyEnv.length === 0 ? "the server wants a key: set key_env in the config" : `check ${keyEnv.join(" or ")}`;
}

export function requireKey({ name, key, keyEnv }: ResolvedProvider): void {
  if (keyEnv.length === 0 || key !== undefined) return;
  const variables = keyEnv.join(" or ");
  throw new TuttiError(
    "refused",
    `${name} needs a key: keep one with \`tutti models login ${name}\`, or set ${variables} where Tutti is started`,
    {
      details: { provider: name, key_env: [...keyEnv] },
    },
  );
}
