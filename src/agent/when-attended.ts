// Steps that a process of a program carries out: waits until one is there, and does again what may be done again.

import { z } from "zod";

import type { ModelCallOptions } from "../model-port.ts";
import type { Attendants, Durable, StepContext } from "../ports.ts";
import { TuttiError } from "../protocol/error.ts";
import type { Attended } from "../protocol/invocation/attended.ts";

/** How often the process may be lost under one call that may be made again. */
const mostLosses = 3;
/** A program that has not come back by then will not. */
const longestWaitMs = 30 * 24 * 60 * 60_000;

interface AttendedStep {
  readonly key: string;
  readonly wanted: Attended;
  /** Whether it may be done again when the process that had it is gone. */
  readonly repeatable: boolean;
}

/** Runs the step under its key, and under further keys after a wait or a loss. */
export async function whenAttended<T>(
  durable: Durable,
  attendants: Attendants | undefined,
  { key, wanted, repeatable }: AttendedStep,
  step: (key: string) => Promise<T>,
): Promise<T> {
  let losses = 0;
  for (let tries = 1; ; tries += 1) {
    try {
      return await step(tries === 1 ? key : `${key}.again${tries}`);
    } catch (thrown) {
      const reason = thrown instanceof TuttiError ? thrown.details?.["reason"] : undefined;
      if (reason === "unattended" && attendants !== undefined) {
        await untilAttended(durable, attendants, { key: `${key}.attended${tries}`, wanted });
      } else if (reason === "process_gone" && repeatable && losses < mostLosses) losses += 1;
      else throw thrown;
    }
  }
}

/** For a call that another process may make: the step is given with it. */
export function inTree<Options extends ModelCallOptions>(
  step: StepContext,
  { root }: Pick<Durable, "root">,
  options: Options,
): Options {
  const { key, noted, signal } = step;
  return { ...options, step: { tree: root, key, noted, signal, note: (value) => step.note(value) } };
}

/** Waits for a process that has what is wanted. Everybody can see the wait, and it takes no slot. */
export async function untilAttended(
  durable: Durable,
  attendants: Attendants,
  { key, wanted }: Pick<AttendedStep, "key" | "wanted">,
): Promise<void> {
  const wait = await durable.open(key, {
    label: `a process of the program that has the ${wanted.kind} ${wanted.name}; start the program again`,
    details: { attended: wanted },
    within: longestWaitMs,
    schema: z.unknown(),
  });
  attendants.settleWhenThere(durable.root, wanted, wait.id);
  const first = await durable.select(`${key}.came`, [{ wait }]);
  if (first.kind !== "wait" || !("expired" in first.value)) return;
  throw new TuttiError("expired", `no process of the program came that has the ${wanted.kind} ${wanted.name}`);
}
