// The runner `local`: runs the agent's loop in this process.

import { agentEnvironment, type AgentEnvironment } from "../../agent/agent-environment.ts";
import { agentLoop } from "../../agent/loop/loop.ts";
import type { InvocationFile } from "../../protocol/invocation/invocation-file.ts";
import type { Runner } from "../../ports.ts";
import type { Model } from "../../model-port.ts";

export function localRunner(
  deps: { readonly model: (file: InvocationFile) => Model } & Partial<AgentEnvironment>,
): Runner {
  const environment = agentEnvironment(deps);
  const models = new WeakMap<InvocationFile, Model>();
  const model = (file: InvocationFile): Model => {
    const known = models.get(file) ?? deps.model(file);
    models.set(file, known);
    return known;
  };
  return (durable) => agentLoop(durable, { model, environment });
}
