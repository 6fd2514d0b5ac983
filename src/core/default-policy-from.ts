// The routing policy of a project that has none: made from the models that can be called here.

import { initialPolicy } from "../protocol/routing/default-policy.ts";
import type { Policy } from "../protocol/routing/policy.ts";
import { isRehearsalName, rehearsalModelName } from "./rehearsal-name.ts";

export interface UsableModel {
  /** `provider/model`. */
  readonly model: string;
  /** Whether it can be called: its key is there, or it needs none. */
  readonly key: boolean;
  /** Whether it is the model of agents that name none. */
  readonly default: boolean;
  /** Null when it is unknown. */
  readonly price: { readonly input_micro_usd: number; readonly output_micro_usd: number } | null;
}

interface Tiers {
  /** For decisions, which are few and steer everything else. The first one that can be called is taken. */
  readonly strongest: readonly string[];
  /** For looking things up, which is frequent and easy. */
  readonly cheap: readonly string[];
}

/** By provider, newest first. For other providers the price decides, because nothing else is known of their models. */
const modelTiers: Readonly<Record<string, Tiers>> = {
  anthropic: {
    strongest: ["anthropic/claude-fable-5-2", "anthropic/claude-opus-5-5"],
    cheap: ["anthropic/claude-haiku-5-5"],
  },
  openai: {
    strongest: ["openai/gpt-6-astra", "openai/gpt-6.1-sol"],
    cheap: ["openai/gpt-6-luna"],
  },
  google: {
    strongest: ["google/gemini-4-argon", "google/gemini-3.1-pro-preview"],
    cheap: ["google/gemini-3.5-flash-lite", "google/gemini-3.1-flash-lite"],
  },
};

/**
 * The builder is the default model, which the person chose or which has a key. The other roles get models of the same
 * provider: work must not go to a provider only because a key of it happens to be there. Where no model is set up, `decider`,
 * which splits the goal, does the work too: what a model has planned is not rehearsed.
 */
export function defaultPolicyFrom(models: readonly UsableModel[], decider: string = rehearsalModelName): Policy {
  const usable = models.filter(({ model, key }) => key && !isRehearsalName(model));
  const builder = usable.find((model) => model.default);
  if (builder === undefined) return initialPolicy(decider);
  const provider = builder.model.slice(0, builder.model.indexOf("/"));
  const offered = usable.filter(({ model }) => model.startsWith(`${provider}/`));
  const tiers = Object.hasOwn(modelTiers, provider) ? modelTiers[provider] : undefined;
  const listed = (names: readonly string[] = []): string | undefined =>
    names.find((name) => offered.some(({ model }) => model === name));
  const router = listed(tiers?.strongest) ?? byPrice(offered, "highest") ?? builder.model;
  const info = listed(tiers?.cheap) ?? byPrice(offered, "lowest") ?? builder.model;
  const policy = initialPolicy(builder.model);
  // No word of the protocol means documentation, so it would go to the model that reviews.
  const decision_rules =
    router === builder.model ? [] : [`documentation => ${builder.model}`, `docs => ${builder.model}`];
  return { ...policy, policy: { ...policy.policy, router, info, escalate_to: router }, routing: { decision_rules } };
}

/** Undefined unless the price of every model is known and says something: on a server of one's own, all cost the same. */
function byPrice(offered: readonly UsableModel[], which: "highest" | "lowest"): string | undefined {
  const priced = offered.flatMap(({ model, price }) =>
    price === null ? [] : [{ model, cost: price.output_micro_usd }],
  );
  const costs = new Set(priced.map(({ cost }) => cost));
  if (priced.length < offered.length || costs.size < 2) return undefined;
  const wanted = which === "highest" ? Math.max(...costs) : Math.min(...costs);
  return priced.find(({ cost }) => cost === wanted)?.model;
}
