// The runner `local`: this orchestrator runs the agent's loop itself.

import { houseOf, type House } from "../../agent/house.ts";
import { agentLoop } from "../../agent/loop.ts";
import type { InvocationFile } from "../../protocol/invocation-file.ts";
import type { Model, Runner } from "../../ports.ts";

export function localRunner(deps: { readonly model: (file: InvocationFile) => Model } & Partial<House>): Runner {
  const house = houseOf(deps);
  const models = new WeakMap<InvocationFile, Model>();
  const model = (file: InvocationFile): Model => {
    const known = models.get(file) ?? deps.model(file);
    models.set(file, known);
    return known;
  };
  return (durable) => agentLoop(durable, { model, house });
}
