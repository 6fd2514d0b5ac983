// All models behind one port: the rehearsal by its name, every other model by its provider.

import { isRehearsalName } from "../core/rehearsal-name.ts";
import { TuttiError } from "../protocol/error.ts";
import { describeIssues, issuesOf } from "../protocol/lenient-read.ts";
import type { Clock } from "../ports.ts";
import type { Model } from "../model-port.ts";
import { type ListOptions, listModels, type ModelListing } from "./list-models.ts";
import { ModelsConfig } from "./models-config.ts";
import type { Price } from "../protocol/invocation/model-price.ts";
import { type Fetch, providerFetch } from "./provider-fetch.ts";
import { estimateUsage, modelCaller } from "./provider-model.ts";
import {
  canonicalName,
  type Environment,
  type ModelSetup,
  type ResolvedModel,
  resolveModel as resolveNow,
} from "./resolve-model.ts";

export interface ModelsOptions {
  /** As the user wrote it; it is checked here. */
  readonly config?: unknown;
  readonly env: Environment;
  readonly storedKey?: ModelSetup["storedKey"];
  readonly prices?: Readonly<Record<string, Price>>;
  readonly objects?: ModelSetup["objects"];
  readonly clock: Clock;
  /** Used to spread waits; `Math.random` when absent. */
  readonly random?: () => number;
  /** Sends the requests; by default through the proxies of `env`. */
  readonly fetch?: Fetch;
}

export interface Models {
  /** A port to all models, with `rehearsal` as the rehearsal. Calls through all such ports share the providers' lanes. */
  withRehearsal(rehearsal: Model): Model;
  list(options?: ListOptions): Promise<ModelListing[]>;
}

/** Throws `invalid_input` and says what is wrong in the config. Loads no provider and sends nothing. */
export function models(options: ModelsOptions): Models {
  const setup: ModelSetup = {
    config: readConfig(options.config ?? {}),
    env: options.env,
    storedKey: options.storedKey,
    objects: options.objects,
    ...(options.prices === undefined ? {} : { prices: options.prices }),
  };
  /** A model that the program has made itself does not change, and each of its calls looks it up three times. */
  const objects = new Map<string, ResolvedModel>();
  const resolve = (name: string): ResolvedModel => {
    const known = objects.get(name);
    if (known !== undefined) return known;
    const model = resolveNow(setup, name);
    if (model.language !== undefined) objects.set(name, model);
    return model;
  };
  const fetch = options.fetch ?? providerFetch(options.env);
  const call = modelCaller({ clock: options.clock, random: options.random ?? Math.random, fetch });
  /** Models whose server has refused tools in this process. Another process finds out by one refused request. */
  const withoutTools = new Set<string>();
  const isRehearsal = (name: string): boolean => isRehearsalName(canonicalName(setup.config, name));
  return {
    withRehearsal: (rehearsal) => ({
      estimate: (request) =>
        isRehearsal(request.model) ? rehearsal.estimate(request) : estimateUsage(resolve(request.model), request),
      call(request, callOptions) {
        if (isRehearsal(request.model)) return rehearsal.call(request, callOptions);
        const model = resolve(request.model);
        return call(model, request, callOptions).catch((thrown: unknown) => {
          // Noted, so that later agents do not offer it any.
          if (refusesTools(thrown)) withoutTools.add(model.name);
          throw thrown;
        });
      },
      facts(name) {
        if (isRehearsal(name)) return { format: "native", contextTokens: null, maxOutputTokens: 16_384 };
        const model = resolve(name);
        const { profile = "tolerant", contextTokens, maxOutputTokens, mostOutputTokens = maxOutputTokens } = model;
        const { formatMayChange = false, fallbacks = [] } = model;
        const format = formatMayChange && withoutTools.has(model.name) ? "fenced" : model.format;
        return { format, formatMayChange, fallbacks, profile, contextTokens, maxOutputTokens, mostOutputTokens };
      },
    }),
    list: (listOptions) => listModels(setup, { clock: options.clock, fetch }, listOptions),
  };
}

function readConfig(config: unknown): ModelsConfig {
  const read = ModelsConfig.safeParse(config);
  if (read.success) return read.data;
  const issues = issuesOf(read.error);
  const message = `the models in the config cannot be used: ${describeIssues(issues)}`;
  throw new TuttiError("invalid_input", message, { details: { issues } });
}

function refusesTools(thrown: unknown): boolean {
  return thrown instanceof TuttiError && thrown.details?.["reason"] === "no_tools";
}
