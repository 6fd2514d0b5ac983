// The gate before a task: when its tree names an operator that must agree, the task does not start until it has.

import { z } from "zod";

import { TuttiError } from "../../protocol/error.ts";
import { TreeOperators } from "../../protocol/invocation/invocation-file.ts";
import { HookVerdict } from "../../protocol/operator/operator-request.ts";
import { operatorKeys, operatorLabel } from "../../protocol/operator/operator-waits.ts";
import type { Durable, Runner } from "../../ports.ts";

const defaultWithin = 10 * 60 * 1000;

const RootInput = z.object({ operators: TreeOperators.optional() });

/**
 * The operator is asked before every run of a task, under the name of the agent that is about to work: consent to one agent
 * is not consent to the agent it hands over to. Without an answer the run does not start.
 */
export function gated(runner: Runner, { within = defaultWithin }: { readonly within?: number } = {}): Runner {
  return async (durable, config) => {
    await awaitConsent(durable, within);
    return runner(durable, config);
  };
}

async function awaitConsent(durable: Durable, within: number): Promise<void> {
  const gate = RootInput.safeParse(durable.rootInput).data?.operators?.gate;
  if (gate === undefined) return;
  const { agent, attempt } = durable;
  const waited = await durable.wait(operatorKeys.hook_before, {
    label: operatorLabel("hook_before"),
    details: { kind: "hook_before", operator: gate, agent, attempt },
    within,
    schema: HookVerdict,
  });
  if ("expired" in waited) {
    throw refused(agent, `the operator ${gate} did not agree within ${Math.round(within / 1000)} s`);
  }
  if (!waited.value.ok) throw refused(agent, waited.value.reason ?? `the operator ${gate} refused it without a reason`);
}

function refused(agent: string, reason: string): TuttiError {
  return new TuttiError("refused", `${agent} was not started: ${reason}`);
}
