// The models of a program: those that it made itself by name, scripts by name, and every other one by its provider.

import type { Model } from "../../model-port.ts";
import { isModelObject, type ModelObject, newestModel } from "../../model/model-object.ts";
import { rehearsalModel } from "../../model/rehearsal/rehearsal-model.ts";
import type { Clock } from "../../ports.ts";
import { TuttiError } from "../../protocol/error.ts";
import type { RehearsalScript } from "../../protocol/invocation/rehearsal-script.ts";
import type { SecretKeeper } from "../secrets/secret-keeper.ts";

interface ProgramModels {
  readonly models: ReadonlyMap<string, ModelObject | RehearsalScript>;
  readonly modelsConfig: unknown;
}

export async function programModel(
  { models: own, modelsConfig }: ProgramModels,
  { clock, secrets }: { readonly clock: Clock; readonly secrets: SecretKeeper },
): Promise<Model> {
  const [{ models }, { ModelsConfig }, { collectSecrets }] = await Promise.all([
    import("../../model/model-registry.ts"),
    import("../../model/models-config.ts"),
    import("../secrets/collect-secrets.ts"),
  ]);
  const objects = new Map(
    [...own].flatMap(([name, model]) => (isModelObject(model) ? [[name, newestModel(model)]] : [])),
  );
  const registry = models({ config: modelsConfig ?? {}, env: process.env, clock, objects });
  secrets.add(collectSecrets({ env: process.env, models: ModelsConfig.parse(modelsConfig ?? {}) }));
  return registry.withRehearsal(scripts(own));
}

/** Plays the script of the model that is asked. */
function scripts(own: ProgramModels["models"]): Model {
  const played = new Map(
    [...own].flatMap(([name, model]) => (isModelObject(model) ? [] : [[name, rehearsalModel(model)]])),
  );
  const find = (name: string): Model => {
    const found = played.get(name);
    if (found === undefined) throw new TuttiError("not_found", `there is no script ${name}`);
    return found;
  };
  return {
    estimate: (request) => find(request.model).estimate(request),
    call: (request, options) => find(request.model).call(request, options),
  };
}
