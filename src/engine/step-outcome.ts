// The outcome of a step: as it is written, as its caller is given it, and as a resumed run reads it back.

import { isJsonValue, jsonCopy } from "../core/json-copy.ts";
import { TuttiError } from "../protocol/error.ts";
import { Failure } from "../protocol/failure.ts";
import type { Schema, StepEvent, StepOptions } from "../ports.ts";
import type { LogRow } from "../store/store.ts";
import { lineTime, shortMessage, wholeMessage } from "./recorded-message.ts";
import type { RunCore } from "./run-core.ts";

const messageEvent = "message.added";

/** An outcome as the caller is given it, and the line that is written of it. */
export interface Made<T> {
  readonly outcome: T;
  readonly text: string;
  readonly event: StepEvent;
  readonly at: number;
}

export function outcomeToRecord<T>(
  core: RunCore,
  { key, options }: { readonly key: string; readonly options: StepOptions<T> },
  given: T,
): Made<T> {
  const { recorder, clock } = core.parts;
  // The caller gets what a resume would give: what JSON keeps of it.
  const copy = options.owned !== true ? jsonCopy(given) : isJsonValue(given) ? given : undefined;
  const value: unknown = copy ?? JSON.parse(JSON.stringify(given) ?? "null");
  const outcome = options.schema.parse(value);
  const event = (typeof options.event === "function" ? options.event(outcome) : options.event) ?? "step.finished";
  const now = clock.now();
  const at = event === messageEvent ? lineTime(value, now) : now;
  const line = event === messageEvent ? core.lineOf({ key, at }) : undefined;
  const whole = JSON.stringify(line === undefined ? value : shortMessage(value, line));
  const text = recorder.clean(whole);
  if (text === whole) return { outcome, text, event, at };
  const cleaned: unknown = JSON.parse(text);
  return { outcome: options.schema.parse(line === undefined ? cleaned : wholeMessage(cleaned, line)), text, event, at };
}

/** What was recorded of a step, as its caller was given it. */
export function outcomeOf<T>(core: RunCore, step: LogRow, schema: Schema<T>): T {
  const value: unknown = JSON.parse(step.body ?? "null");
  if (step.kind === "ok")
    return schema.parse(step.type === messageEvent ? wholeMessage(value, core.lineOf(step)) : value);
  throw failedStep(Failure.parse(value));
}

export function failedStep(failure: Failure): TuttiError {
  const { code: given } = failure;
  const code = given === "outcome_unknown" || given === "over_budget" ? given : "step_failed";
  const details = { ...failure.details, code: failure.code };
  return new TuttiError(code, failure.message, { retry: failure.retry, details });
}
