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

/** Throws `deadline`, the reason of `signal` when it was aborted, or whatever the provider's package throws. */
export function requestReply(request: ProviderRequest): Promise<CollectedReply> {
  const { language, prompt, collect, pacing, clock, signal } = request;
  const { firstByteMs, idleMs, totalMs } = pacing;
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const controller = new AbortController();
    let hasEnded = false;
    /** Since when nothing came, and whether anything came before that. */
    const since = clock.now();
    let quietSince = since;
    let hasBegun = false;
    const end = (): void => {
      hasEnded = true;
      callOff();
      signal.removeEventListener("abort", onAbort);
    };
    /** Ends the call even when the stream does not react to the abort. */
    const fail = (reason: unknown): void => {
      if (hasEnded) return;
      end();
      reject(reason);
      // Whoever still works on the reply is told.
      controller.abort(reason);
    };
    const onAbort = (): void => fail(signal.reason);
    const timeOut = (what: string, ms: number, retry: "safe" | "unknown"): void => {
      const message = `${collect.model} ${what} ${ms / 1000} s; try again, or raise the provider's limit in the config`;
      fail(new TuttiError("deadline", message, { details: { model: collect.model }, retry }));
    };
    /** One timer for all of it: when it fires, it looks how long the silence and the call are, and waits for what is left. */
    const watch = (): void => {
      const now = clock.now();
      const limit = hasBegun ? idleMs : firstByteMs;
      const [quietFor, runsFor] = [now - quietSince, now - since];
      if (runsFor >= totalMs) timeOut("had not finished after", totalMs, "unknown");
      else if (quietFor >= limit) timeOut(hasBegun ? "fell silent for" : "sent nothing for", limit, "safe");
      else callOff = clock.timer(Math.min(limit - quietFor, totalMs - runsFor), watch);
    };
    let callOff = clock.timer(Math.min(firstByteMs, totalMs), watch);
    const onActivity = (): void => {
      if (hasEnded) return;
      quietSince = clock.now();
      if (hasBegun) return;
      hasBegun = true;
      if (idleMs >= firstByteMs) return;
      callOff();
      watch();
    };
    signal.addEventListener("abort", onAbort, { once: true });
    const options: CallOptions = { ...prompt, abortSignal: controller.signal };
    streamed(language, options, { ...collect, onActivity }).then((reply) => {
      if (hasEnded) return;
      end();
      resolve(reply);
    }, fail);
  });
}

async function streamed(
  language: LanguageModel,
  options: CallOptions,
  collect: CollectOptions,
): Promise<CollectedReply> {
  const { stream } = await language.doStream(options);
  return collectReply(stream, collect);
}
