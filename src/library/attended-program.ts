// The code of a program that its runs in a daemon need of this process: its tools, its models and its workflows.

import type { Model } from "../model-port.ts";
import { isModelObject, type ModelObject, newestModel } from "../model/model-object.ts";
import type { ModelsConfig } from "../model/models-config.ts";
import type { Clock } from "../ports.ts";
import { TuttiError } from "../protocol/error.ts";
import type { AttendedModel } from "../protocol/invocation/attended.ts";
import type { AttendedCode } from "./attend-run.ts";
import type { CompiledProgram } from "./compile-program.ts";

export interface AttendedProgram {
  readonly compiled: CompiledProgram;
  /** The settings and prices of its models. */
  readonly models: Partial<ModelsConfig> | undefined;
}

/** All that these programs have. */
export function attendedCode(programs: ReadonlySet<AttendedProgram>): AttendedCode {
  const all = [...programs];
  const objects = new Map(all.flatMap(({ compiled }) => [...objectsIn(compiled)]));
  const config = all.find(({ models }) => models !== undefined)?.models;
  return {
    tools: new Map(all.flatMap(({ compiled }) => [...compiled.codeTools])),
    workflows: new Map(all.flatMap(({ compiled }) => compiled.workflows.map((each) => [each.name, each]))),
    models: new Set(objects.keys()),
    model: () => modelOf(objects, config),
  };
}

function objectsIn({ models }: CompiledProgram): ReadonlyMap<string, ModelObject> {
  return new Map([...models].flatMap(([name, model]) => (isModelObject(model) ? [[name, model]] : [])));
}

const made = new WeakMap<object, Model>();

/** Calls through one port share the limits of a provider, so there is one for the same objects. */
async function modelOf(
  objects: ReadonlyMap<string, ModelObject>,
  config: Partial<ModelsConfig> | undefined,
): Promise<Model> {
  const [first] = objects.values();
  const known = objects.size === 1 && first !== undefined ? made.get(first) : undefined;
  if (known !== undefined) return known;
  const { models } = await import("../model/model-registry.ts");
  const newest = new Map([...objects].map(([name, object]) => [name, newestModel(object)]));
  const registry = models({ config: config ?? {}, env: process.env, clock: systemTime, objects: newest });
  const model = registry.withRehearsal(noScript);
  if (objects.size === 1 && first !== undefined) made.set(first, model);
  return model;
}

const systemTime: Clock = {
  now: () => Date.now(),
  timer(ms, fire) {
    const timer = setTimeout(fire, Math.min(ms, 2 ** 31 - 1));
    return () => clearTimeout(timer);
  },
};

const noScript: Model = {
  estimate: () => ({ input_tokens: 0, output_tokens: 0, money_micro_usd: 0 }),
  call: () => Promise.reject(new TuttiError("not_found", "scripts are played by the daemon")),
};

/** What the daemon has to know of the models that this process calls. */
export async function attendedModels({
  compiled,
  models: config,
}: AttendedProgram): Promise<Record<string, AttendedModel> | undefined> {
  const objects = objectsIn(compiled);
  if (objects.size === 0) return undefined;
  const [{ resolveModel }, { ModelsConfig }] = await Promise.all([
    import("../model/resolve-model.ts"),
    import("../model/models-config.ts"),
  ]);
  const newest = new Map([...objects].map(([name, object]) => [name, newestModel(object)]));
  const setup = { config: ModelsConfig.parse(config ?? {}), env: process.env, objects: newest };
  return Object.fromEntries(
    [...objects.keys()].map((name): [string, AttendedModel] => {
      const { format, formatMayChange, profile, contextTokens, maxOutputTokens, mostOutputTokens, price } =
        resolveModel(setup, name);
      return [
        name,
        {
          format,
          format_may_change: formatMayChange ?? false,
          profile: profile ?? "tolerant",
          context_tokens: contextTokens,
          max_output_tokens: maxOutputTokens,
          most_output_tokens: mostOutputTokens ?? maxOutputTokens,
          price,
        },
      ];
    }),
  );
}
