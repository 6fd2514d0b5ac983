// Sends one request to a provider and collects its reply, with time limits for the first byte, for silence and for the whole.

import { TuttiError } from "../protocol/error.ts";
import type { Clock } from "../ports.ts";
import type { CallOptions, LanguageModel } from "./language-model.ts";
import type { Pacing } from "./pacing.ts";
import { type CollectOptions, collectReply, type CollectedReply } from "./collect-reply.ts";

export interface ProviderRequest {
  readonly language: LanguageModel;
  readonly prompt: CallOptions;
  readonly collect: Omit<CollectOptions, "onActivity">;
  readonly pacing: Pacing;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** Made once: a controller without a reason makes an error with a stack for each call. */
const over = new Error("the call has ended");

/** Throws `deadline`, the reason of `signal` when it was aborted, or whatever the provider's package throws. */
export async function requestReply(request: ProviderRequest): Promise<CollectedReply> {
  const { language, prompt, collect, pacing, clock, signal } = request;
  signal.throwIfAborted();
  const { firstByteMs, idleMs, totalMs } = pacing;
  const stop = new AbortController();
  const onAbort = (): void => stop.abort(signal.reason);
  signal.addEventListener("abort", onAbort, { once: true });
  const timeOut = (what: string, ms: number, retry: "safe" | "unknown") => (): void => {
    const message = `${collect.model} ${what} ${ms / 1000} s; try again, or raise the provider's limit in the config`;
    stop.abort(new TuttiError("deadline", message, { details: { model: collect.model }, retry }));
  };
  const totalTimer = clock.timer(totalMs, timeOut("had not finished after", totalMs, "unknown"));
  let silenceTimer = clock.timer(firstByteMs, timeOut("sent nothing for", firstByteMs, "safe"));
  const onActivity = (): void => {
    if (stop.signal.aborted) return;
    silenceTimer();
    silenceTimer = clock.timer(idleMs, timeOut("fell silent for", idleMs, "safe"));
  };
  const aborted = new Promise<never>((_, reject) => {
    stop.signal.addEventListener("abort", () => reject(stop.signal.reason), { once: true });
  });
  const replied = (async () => {
    const { stream } = await language.doStream({ ...prompt, abortSignal: stop.signal });
    return collectReply(stream, { ...collect, onActivity });
  })();
  try {
    // The race ends the call even when the stream does not react to the abort.
    return await Promise.race([replied, aborted]);
  } catch (thrown) {
    // Whoever still works on the reply is told. One that came whole has nobody left to tell.
    stop.abort(over);
    throw thrown;
  } finally {
    totalTimer();
    silenceTimer();
    signal.removeEventListener("abort", onAbort);
    aborted.catch(() => undefined);
    replied.catch(() => undefined);
  }
}
