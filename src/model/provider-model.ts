// A call of a provider's model: through the lane of its key, again where that can help, its usage counted to the last try.

import { createHash } from "node:crypto";

import type { Usage } from "../protocol/task/budget.ts";
import { TuttiError } from "../protocol/error.ts";
import type { Clock, ModelCallOptions, ModelReply, ModelRequest } from "../ports.ts";
import { type CallFailure, readFailure } from "./call-failure.ts";
import { estimateInput } from "./estimate.ts";
import { type Lane, openLane, type Pass } from "./lane.ts";
import { providerLoader } from "./load-provider.ts";
import { oneTry } from "./one-try.ts";
import { pacingOf } from "./pacing.ts";
import { costOf, type Tokens } from "./prices.ts";
import { promptOf } from "./prompt.ts";
import type { WholeReply } from "./collect-reply.ts";
import { requireKey, type ResolvedModel, type ResolvedProvider } from "./resolve-model.ts";

export interface CallerDeps {
  readonly clock: Clock;
  readonly random: () => number;
}

export type CallModel = (model: ResolvedModel, request: ModelRequest, options: ModelCallOptions) => Promise<ModelReply>;

/** A throttled call is not a failed one: it waits its turn, and is given up only when this often in a row did not help. */
const maxTries: Readonly<Record<CallFailure["kind"], number>> = { throttled: 25, transient: 4, empty: 2, final: 1 };
const firstPauseMs = 500;
const longestPauseMs = 20_000;

/** All calls of one process go through one of these, so that they share their lanes. */
export function modelCaller({ clock, random }: CallerDeps): CallModel {
  const load = providerLoader();
  const lanes = new Map<string, Lane>();
  const laneOf = (provider: ResolvedProvider): Lane => {
    const key = laneKey(provider);
    const { concurrency: most, maxWaitMs } = pacingOf(provider.settings);
    const lane = lanes.get(key) ?? openLane({ clock, most, maxWaitMs, name: provider.name, random });
    lanes.set(key, lane);
    return lane;
  };

  return async (model, request, options) => {
    requireKey(model.provider);
    const { signal } = options;
    const lane = laneOf(model.provider);
    const language = await load(model);
    const sent = promptOf(request, model);
    const pacing = pacingOf(model.provider.settings);
    const counts = { throttled: 0, transient: 0, empty: 0, final: 0 };
    const lost: Lost = { input: 0, output: 0 };
    for (let again = false; ; again = true) {
      const pass = await lane.enter({ signal, again });
      const progress = { output: 0, started: false };
      const reading = {
        ...options,
        model: model.name,
        agent: request.agent,
        keepState: request.format !== "fenced",
        usedIds: idsIn(request),
        progress,
      };
      try {
        const reply = await oneTry({ language, sent, reading, pacing, clock, signal });
        pass.passed();
        return counted(reply, { model, request, lost, received: progress.output });
      } catch (thrown) {
        if (signal.aborted) {
          pass.failed();
          throw signal.reason;
        }
        const failure = readFailure(thrown, model);
        if (progress.started || failure.kind === "empty" || failure.error.code === "deadline") {
          lost.input += estimateInput(request);
          lost.output += progress.output;
        }
        settle(pass, failure);
        counts[failure.kind] += 1;
        if (counts[failure.kind] >= maxTries[failure.kind]) throw givenUp(failure.error, lost);
        const waitMs = pauseBefore(failure, counts.transient, random);
        if (waitMs > pacing.maxWaitMs) throw givenUp(failure.error, lost);
        options.onRetry?.({ reason: failure.error.message, waitMs });
        // The pause of a throttled call is the lane's, for everybody.
        if (failure.kind !== "throttled") await sleep(waitMs, clock, signal);
      }
    }
  };
}

/** Not the key itself: it must be nowhere but in the request. */
function laneKey({ name, baseUrl, key }: ResolvedProvider): string {
  return createHash("sha256")
    .update(JSON.stringify([name, baseUrl, key ?? null]))
    .digest("base64");
}

function settle(pass: Pass, { kind, waitMs }: CallFailure): void {
  if (kind === "throttled") pass.throttled(waitMs);
  else pass.failed();
}

function pauseBefore({ kind, waitMs }: CallFailure, transient: number, random: () => number): number {
  if (kind === "throttled") return waitMs ?? 0;
  if (kind === "empty") return 0;
  const backoff = Math.min(longestPauseMs, firstPauseMs * 2 ** (transient - 1)) * (0.5 + random() / 2);
  return Math.max(waitMs ?? 0, backoff);
}

/** Tokens of tries that began to answer and were dropped: paid for, though nothing came of them. */
interface Lost {
  input: number;
  output: number;
}

/** What was paid for must not look as if nothing had happened. */
function givenUp(error: TuttiError, lost: Lost): TuttiError {
  if (lost.input === 0) return error;
  const { cause, details } = error;
  return new TuttiError(error.code, error.message, {
    cause,
    retry: "unknown",
    ...(details === undefined ? {} : { details }),
  });
}

interface Counting {
  readonly model: ResolvedModel;
  readonly request: ModelRequest;
  readonly lost: Lost;
  /** Roughly, for a server that does not count. */
  readonly received: number;
}

function counted(reply: WholeReply, { model, request, lost, received }: Counting): ModelReply {
  const { message, finish, malformed, tokens: told } = reply;
  const tokens: Tokens = {
    input: told.input ?? estimateInput(request),
    output: told.output ?? received,
    cacheRead: told.cacheRead ?? 0,
    cacheWritten: told.cacheWritten ?? 0,
  };
  const cost = costOf(model.price, tokens);
  const lostCost = costOf(model.price, { ...lost, cacheRead: 0, cacheWritten: 0 });
  const usage: Usage = {
    input_tokens: tokens.input + lost.input,
    output_tokens: tokens.output + lost.output,
    money_micro_usd: cost === null || lostCost === null ? null : cost + lostCost,
  };
  const cached = { read: tokens.cacheRead, written: tokens.cacheWritten };
  return {
    message,
    usage,
    finish,
    ...(malformed.length === 0 ? {} : { malformed }),
    ...(cached.read + cached.written === 0 ? {} : { cached }),
  };
}

export function estimateUsage(model: ResolvedModel, request: ModelRequest): Usage {
  const input = estimateInput(request);
  const output = request.maxOutputTokens ?? model.maxOutputTokens;
  const tokens = { input, output, cacheRead: 0, cacheWritten: 0 };
  const costs = [costOf(model.price, tokens), costOf(model.price, { ...tokens, cacheWritten: input })];
  const known = costs.filter((cost) => cost !== null);
  return {
    input_tokens: input,
    output_tokens: output,
    money_micro_usd: known.length === 0 ? null : Math.max(...known),
  };
}

function idsIn({ messages }: ModelRequest): Set<string> {
  const ids = new Set<string>();
  for (const { parts } of messages) {
    for (const part of parts) if (part.part_type === "tool_call") ids.add(part.data.tool_call_id);
  }
  return ids;
}

function sleep(ms: number, clock: Clock, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      cancel();
      reject(signal.reason);
    };
    const cancel = clock.timer(ms, () => {
      signal.removeEventListener("abort", stop);
      resolve();
    });
    signal.addEventListener("abort", stop, { once: true });
    if (signal.aborted) stop();
  });
}
