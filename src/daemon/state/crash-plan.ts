// A crash at one step, for tests: nothing is recorded any more from there on, as if the process had been killed.

import type { Durable, Runner, RunningStep, StepOptions } from "../../ports.ts";
import type { Store } from "../../store/store.ts";
import { workflowPrefix } from "../../runner/program/config.ts";
import { withParts } from "../../runner/shared/with-parts.ts";

export interface CrashPlan {
  /** The key of a step, or the name of a tool whose call is one. */
  readonly step: string;
  /** `before`: its body does not run. `during`: its body has run and its outcome is not recorded. `after`: it is recorded. */
  readonly when: "before" | "during" | "after";
  /** Only this time that it comes by, counted from 1. */
  readonly time: number;
}

interface Dying {
  readonly store: Pick<Store, "committed">;
  readonly die: () => void;
}

/** Nothing that the dead process was about to do goes on. */
const never = new Promise<never>(() => undefined);

export function crashing(runner: Runner, plan: CrashPlan, { store, die }: Dying): Runner {
  let seen = 0;
  const isMeant = (key: string, input: unknown): boolean => {
    const tool: unknown = Array.isArray(input) ? input[0] : undefined;
    if (key !== plan.step && key !== `${workflowPrefix}${plan.step}` && tool !== plan.step) return false;
    seen += 1;
    return seen === plan.time;
  };
  const dead = (): Promise<never> => {
    die();
    return never;
  };
  return (durable, config) => {
    const step = async <T>(
      key: string,
      options: StepOptions<T>,
      body: (context: RunningStep) => Promise<T> | T,
    ): Promise<T> => {
      if (!isMeant(key, options.input)) return durable.step(key, options, body);
      const outcome = await durable.step(key, options, async (context) => {
        if (plan.when === "before") return dead();
        const made = await body(context);
        return plan.when === "during" ? dead() : made;
      });
      if (plan.when !== "after") return outcome;
      await store.committed();
      return dead();
    };
    return runner(withParts<Durable>(durable, { step }), config);
  };
}
