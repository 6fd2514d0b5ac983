// Asks a person when the config of a task's project cannot be used, and goes on when they have corrected it.

import { inLine } from "../../core/foreign-words.ts";
import type { Durable } from "../../ports.ts";
import { toTuttiError, TuttiError } from "../../protocol/error.ts";
import { Answer } from "../../protocol/task/ask.ts";

/**
 * Calls `load` until it succeeds, with a question before every further try. The task fails only when the answer is no or
 * nobody answers: a failure would be final, although the config may only be broken for a moment.
 */
export async function askForConfig<T>(durable: Pick<Durable, "wait">, load: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await load();
    } catch (thrown) {
      const { message } = toTuttiError(thrown);
      const question = `The config of this task's project cannot be used: ${inLine(message)}. Correct it and approve, and the task goes on.`;
      // The details say what kind of approval this is, so that none is given without looking.
      const ask = { kind: "approval", question, details: { config: "unusable" } } as const;
      const outcome = await durable.wait(`config.${attempt}`, { ask, schema: Answer });
      const approved = "value" in outcome && outcome.value.kind === "approval" && outcome.value.approved;
      if (!approved) throw new TuttiError("invalid_input", message, { cause: thrown });
    }
  }
}
