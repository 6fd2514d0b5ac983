// Resolves the model names of a project, lists the models that can be used, and tries one of them.

import { systemClock } from "../../engine/clock.ts";
import type { ModelListing } from "../../model/list-models.ts";
import type { ModelsConfig } from "../../model/models-config.ts";
import { models } from "../../model/model-registry.ts";
import type { ModelView } from "../../protocol/api/catalog.ts";
import type { KeySources } from "../secrets/provider-keys.ts";
import { type Tried, tryModel } from "../../agent/try-model.ts";
import { isRehearsalName } from "../../core/rehearsal-name.ts";
import type { TriedView, TryModelOptions } from "../../host/project.ts";
import { rehearsalModel } from "../../model/rehearsal/rehearsal-model.ts";
import { triedScript } from "../../model/rehearsal/tried-script.ts";
import { canonicalName, requireKey, resolveModel, resolveProvider, shortNames } from "../../model/resolve-model.ts";

/** The model that plays a script; also the default when no provider is set up. */
const rehearsal = "rehearsal/script";

/** Default models, one for each provider; the first whose provider has a key is used. */
const preferred = ["anthropic/claude-sonnet-5-5", "openai/gpt-6-sol", "google/gemini-3.8-flash"];

export interface ModelNames {
  readonly rehearsal: string;
  /** The model of agents that name none. */
  readonly fallback: string;
  /** Turns aliases and short names into `provider/model`. */
  readonly resolve: (name: string) => string;
}

export function modelNames(config: ModelsConfig, keys: KeySources): ModelNames {
  const resolve = (name: string): string => canonicalName(config, name);
  const withKey = preferred.find((name) => {
    const provider = resolveProvider({ config, ...keys }, name.slice(0, name.indexOf("/")));
    return provider.key !== undefined;
  });
  return { rehearsal, fallback: resolve(config.default ?? withKey ?? rehearsal), resolve };
}

/** How long a provider may take to answer a probe. */
const probeMs = 5_000;

/** The rehearsal model, all models that are set up, and the default model of every provider without a key. */
export async function listModels(
  config: ModelsConfig,
  keys: KeySources,
  { probe }: { readonly probe: boolean },
): Promise<ModelView[]> {
  const { fallback, resolve } = modelNames(config, keys);
  const all = models({ config, ...keys, clock: systemClock });
  const signal = AbortSignal.timeout(2 * probeMs);
  const listed = await all.list(probe ? { probe: { timeoutMs: probeMs, signal } } : {});
  const found = listed.map((listing) => viewOf(listing, fallback));
  const missing = preferred.filter((name) => !found.some((view) => view.model === name));
  const named = [...new Set([fallback, ...missing])].filter(
    (name) => name !== rehearsal && !found.some((view) => view.model === name),
  );
  const others = named.map((name): ModelView => {
    const { provider, price, format } = resolveModel({ config, ...keys }, name);
    const listing = {
      name,
      aliases: [],
      provider: provider.name,
      keyEnv: provider.keyEnv,
      keyFrom: provider.keyFrom,
      price,
      format,
    };
    return viewOf({ ...listing, configured: provider.key !== undefined || provider.keyEnv.length === 0 }, fallback);
  });
  const views = [rehearsalView(fallback), ...found, ...others];
  return views.map((view) => {
    const short = Object.keys(shortNames).filter((name) => resolve(name) === view.model);
    return { ...view, aliases: [...new Set([...view.aliases, ...short])] };
  });
}

/** Tries a model with real calls; the rehearsal plays a script. */
export async function tryOneModel(
  config: ModelsConfig,
  keys: KeySources,
  { name, signal, onTried }: TryModelOptions & { readonly name: string },
): Promise<TriedView[]> {
  const resolved = canonicalName(config, name);
  if (!isRehearsalName(resolved)) requireKey(resolveModel({ config, ...keys }, resolved).provider);
  const model = models({ config, ...keys, clock: systemClock }).withRehearsal(rehearsalModel(triedScript));
  const tried = await tryModel(model, {
    name: resolved,
    clock: systemClock,
    signal,
    onTried: (each) => onTried(triedView(each)),
  });
  return tried.map(triedView);
}

function triedView({ part, outcome, said, tookMs, usage }: Tried): TriedView {
  const tokens = usage.input_tokens + usage.output_tokens;
  return { part, outcome, said, took_ms: Math.round(tookMs), tokens, money_micro_usd: usage.money_micro_usd };
}

type Listed = Pick<
  ModelListing,
  "name" | "aliases" | "provider" | "configured" | "keyEnv" | "keyFrom" | "price" | "format" | "probe"
>;

function viewOf(listing: Listed, fallback: string): ModelView {
  const { name, aliases, provider, configured, keyEnv, keyFrom, probe, price, format } = listing;
  return {
    model: name,
    aliases: [...aliases],
    default: name === fallback,
    provider,
    key_env: keyEnv.length === 0 ? null : keyEnv.join(" or "),
    key: configured,
    key_from: keyFrom?.from ?? null,
    ...(probe === undefined ? {} : { reachable: { ok: probe.reachable, said: probe.problem ?? "" } }),
    format,
    price: price === null ? null : { input_micro_usd: price.input, output_micro_usd: price.output },
  };
}

function rehearsalView(fallback: string): ModelView {
  return {
    model: rehearsal,
    aliases: [],
    default: fallback === rehearsal,
    provider: "rehearsal",
    key_env: null,
    key: true,
    key_from: null,
    format: "native",
    price: { input_micro_usd: 0, output_micro_usd: 0 },
  };
}
