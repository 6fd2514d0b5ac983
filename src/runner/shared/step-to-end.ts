// A step that returns only when its body has. A canceled step otherwise returns at once, while its processes still end.

import type { Durable, RunningStep, StepOptions } from "../../ports.ts";

export interface WholeStep<T> extends StepOptions<T> {
  readonly key: string;
}

/** The task keeps its slot and its folder until everything that the body started has ended. */
export async function stepToEnd<T>(
  durable: Durable,
  { key, ...options }: WholeStep<T>,
  body: (step: RunningStep) => Promise<T>,
): Promise<T> {
  let running: Promise<unknown> | undefined;
  try {
    return await durable.step(key, options, (step) => {
      const begun = body(step);
      running = begun;
      return begun;
    });
  } finally {
    await running?.catch(() => undefined);
  }
}
