// Lists all models with their prices, formats and limits, whether a key is set and whether the provider can be reached.

import type { ModelFormat } from "../model-port.ts";
import type { Price } from "../protocol/invocation/model-price.ts";
import { priceTable, pricesAsOf } from "./prices.ts";
import { type Probe, type ProbeDeps, probeProvider } from "./probe-provider.ts";
import {
  type KeyOrigin,
  type ModelSetup,
  providerNames,
  type ResolvedProvider,
  resolveModel,
  resolveProvider,
} from "./resolve-model.ts";

export interface ModelListing {
  /** `provider/model`. */
  readonly name: string;
  readonly aliases: readonly string[];
  readonly provider: string;
  /** Whether the model can be called now: its key is set, or it needs none. */
  readonly configured: boolean;
  /** The environment variables that may hold the key; empty when none is needed. */
  readonly keyEnv: readonly string[];
  readonly keyFrom: KeyOrigin | undefined;
  /** Absent when the provider was not probed. */
  readonly probe?: Probe;
  /** Null when the price is unknown; then, under a money limit, a person is asked before the first call. */
  readonly price: Price | null;
  readonly pricesAsOf: string;
  readonly format: ModelFormat;
  readonly contextTokens: number | null;
  readonly maxOutputTokens: number;
}

export interface ListOptions {
  /** Probe every configured provider. This generates nothing and costs nothing. */
  readonly probe?: { readonly timeoutMs: number; readonly signal: AbortSignal };
}

/**
 * The models named in the config, those with a known price of every provider whose key is set, and those that a provider
 * lists when it is probed, whether their price is known or not. Names that cannot be resolved are left out; calling such a
 * model says why.
 */
export async function listModels(
  setup: ModelSetup,
  deps: ProbeDeps,
  options: ListOptions = {},
): Promise<ModelListing[]> {
  const providers = providerNames(setup.config).flatMap((name) => resolvedOrNone(() => resolveProvider(setup, name)));
  const ready = providers.filter(isConfigured);
  const named = new Set(namesIn(setup));
  const inUse = ready.filter(
    ({ name, keyEnv }) =>
      keyEnv.length > 0 ||
      Object.hasOwn(setup.config.providers, name) ||
      [...named].some((model) => model.startsWith(`${name}/`)),
  );
  const probes = await probeAll(inUse, deps, options);
  const priced = Object.keys(priceTable).filter((model) => ready.some(({ name }) => model.startsWith(`${name}/`)));
  const offered = inUse.flatMap(({ name, kind }) => {
    const ids = probes.get(name)?.models ?? [];
    return (kind === "openai-compatible" ? ids : ids.filter(isForAgents)).map((id) => `${name}/${id}`);
  });
  const aliases = Object.keys(setup.config.aliases);
  const resolved = [...new Set([...named, ...priced, ...offered])].flatMap((name) =>
    resolvedOrNone(() => resolveModel(setup, name)),
  );
  return resolved.map((model): ModelListing => {
    const probe = probes.get(model.provider.name);
    const own = aliases.filter((alias) => resolvedOrNone(() => resolveModel(setup, alias))[0]?.name === model.name);
    return {
      name: model.name,
      aliases: own,
      provider: model.provider.name,
      configured: isConfigured(model.provider),
      keyEnv: model.provider.keyEnv,
      keyFrom: model.provider.keyFrom,
      ...(probe === undefined ? {} : { probe }),
      price: model.price,
      pricesAsOf,
      format: model.format,
      contextTokens: model.contextTokens,
      maxOutputTokens: model.maxOutputTokens,
    };
  });
}

function namesIn(setup: ModelSetup): string[] {
  const { config } = setup;
  const asked = [
    config.default,
    ...Object.keys(config.aliases),
    ...Object.keys(config.models),
    ...Object.keys(config.prices),
  ];
  return asked.flatMap((name) => (name === undefined ? [] : resolvedOrNone(() => resolveModel(setup, name).name)));
}

/** Models that make pictures, speech or vectors. OpenAI and Google list them beside the others, without saying so. */
const otherKinds =
  /embed|whisper|tts|dall-e|image|audio|realtime|live|moderation|transcri|sora|veo|imagen|lyria|babbage|davinci|gpt-3\.5|instruct|search|computer-use|deep-research|robotics|nano-banana|\baqa\b/;
/** A version of a model by its date; the model itself is in the list too. */
const dated = /-(?:\d{8}|\d{4}-\d{2}-\d{2}|\d{3})$/;

function isForAgents(id: string, _: number, all: readonly string[]): boolean {
  return !otherKinds.test(id) && !(dated.test(id) && all.includes(id.replace(dated, "")));
}

function isConfigured({ key, keyEnv }: ResolvedProvider): boolean {
  return keyEnv.length === 0 || key !== undefined;
}

function resolvedOrNone<T>(make: () => T): T[] {
  try {
    return [make()];
  } catch {
    return [];
  }
}

async function probeAll(
  providers: readonly ResolvedProvider[],
  deps: ProbeDeps,
  { probe }: ListOptions,
): Promise<Map<string, Probe>> {
  if (probe === undefined) return new Map();
  const found = providers.map(
    async (provider) => [provider.name, await probeProvider(provider, { ...deps, ...probe })] as const,
  );
  return new Map(await Promise.all(found));
}
