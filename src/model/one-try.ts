// One request to a provider and its reply, with an end to every wait: the first sign, silence, the whole.

import { TuttiError } from "../protocol/error.ts";
import type { Clock } from "../ports.ts";
import type { CallOptions, LanguageModel } from "./language-model.ts";
import type { Pacing } from "./pacing.ts";
import { readReply, type Reading, type WholeReply } from "./collect-reply.ts";

export interface Try {
  readonly language: LanguageModel;
  readonly sent: CallOptions;
  readonly reading: Omit<Reading, "onSign">;
  readonly pacing: Pacing;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** Throws `deadline`, the caller's own reason when it gave up, or whatever the provider's package throws. */
export async function oneTry({ language, sent, reading, pacing, clock, signal }: Try): Promise<WholeReply> {
  signal.throwIfAborted();
  const { firstByteMs, idleMs, totalMs } = pacing;
  const stop = new AbortController();
  const giveUp = (): void => stop.abort(signal.reason);
  signal.addEventListener("abort", giveUp, { once: true });
  const late = (what: string, ms: number, retry: "safe" | "unknown") => (): void => {
    const message = `${reading.model} ${what} ${ms / 1000} s; try again, or raise the provider's limit in the config`;
    stop.abort(new TuttiError("deadline", message, { details: { model: reading.model }, retry }));
  };
  const total = clock.timer(totalMs, late("had not finished after", totalMs, "unknown"));
  let silence = clock.timer(firstByteMs, late("gave no sign for", firstByteMs, "safe"));
  const onSign = (): void => {
    if (stop.signal.aborted) return;
    silence();
    silence = clock.timer(idleMs, late("fell silent for", idleMs, "safe"));
  };
  const aborted = new Promise<never>((_, reject) => {
    stop.signal.addEventListener("abort", () => reject(stop.signal.reason), { once: true });
  });
  const replied = (async () => {
    const { stream } = await language.doStream({ ...sent, abortSignal: stop.signal });
    return readReply(stream, { ...reading, onSign });
  })();
  try {
    // A stream that does not notice the abort must not hold the call.
    return await Promise.race([replied, aborted]);
  } finally {
    total();
    silence();
    signal.removeEventListener("abort", giveUp);
    aborted.catch(() => undefined);
    replied.catch(() => undefined);
    stop.abort();
  }
}
