// The models that a policy lists for the case that the model of a role fails.

import type { Policy } from "./policy.ts";

type Role = "router" | "info" | "build" | "escalate_to";

/** As many as an agent may list. */
export const maxFallbacks = 16;

const roles: readonly Role[] = ["info", "build", "router", "escalate_to"];

/**
 * The list of the role for which the model was chosen, else of the first other role that has this model and a list.
 * Undefined if the policy has none, so that other settings may name some; an empty list says that there are none.
 */
export function fallbacksFor({ policy, fallbacks }: Policy, model: string, chosenFor?: Role): string[] | undefined {
  if (fallbacks === undefined) return undefined;
  const first = chosenFor === undefined ? undefined : fallbacks[chosenFor];
  const list =
    first ??
    roles
      .filter((role) => policy[role] === model)
      .map((role) => fallbacks[role])
      .find(Array.isArray);
  return list && [...new Set(list)].filter((name) => name !== model);
}
