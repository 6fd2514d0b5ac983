// Calls a provider's model: waits for its lane, retries where that can help, and counts the tokens of all tries.

import { createHash } from "node:crypto";

import type { Usage } from "../protocol/task/budget.ts";
import { TuttiError } from "../protocol/error.ts";
import type { CompleteMessage } from "../protocol/task/message.ts";
import type { Clock } from "../ports.ts";
import type { ModelCallOptions, ModelReply, ModelRequest } from "../model-port.ts";
import { type CallFailure, readFailure } from "./call-failure.ts";
import { estimateInput } from "./estimate.ts";
import { type Lane, openLane, type Permit } from "./lane.ts";
import { assumedText, contextReader, type LoadedContext, roomIn } from "./loaded-context.ts";
import { providerLoader } from "./load-provider.ts";
import { requestReply } from "./provider-request.ts";
import type { LanguageModel } from "./language-model.ts";
import { longestReply } from "./model-limits.ts";
import { outputLimitIn } from "./output-refusal.ts";
import { isOwnServer } from "./own-server.ts";
import { type Pacing, pacingOf } from "./pacing.ts";
import type { Fetch } from "./provider-fetch.ts";
import { costOf, type TokenCounts } from "./prices.ts";
import { type Prompt, promptOf } from "./prompt.ts";
import { cachesForAnHour } from "./provider-options.ts";
import { refusedSetting, type Setting } from "./refused-setting.ts";
import { isReasoningRefused, learnedFrom, type ReasoningPolicy, reasoningPolicy } from "./send-reasoning.ts";
import type { CollectedReply } from "./collect-reply.ts";
import { requireKey, type ResolvedModel, type ResolvedProvider } from "./resolve-model.ts";

export interface CallerDeps {
  readonly clock: Clock;
  readonly random: () => number;
  readonly fetch: Fetch;
}

export type CallModel = (model: ResolvedModel, request: ModelRequest, options: ModelCallOptions) => Promise<ModelReply>;

/** How often each kind of failure may happen in one call. Throttling is not the call's fault, so it is retried most. */
const maxTries: Readonly<Record<CallFailure["kind"], number>> = { throttled: 25, transient: 4, final: 1 };
/** How often one request is sent again in another form because the server said what it does not take. */
const maxAdaptations = 2;
const firstPauseMs = 500;
const longestPauseMs = 20_000;

interface Way {
  readonly lane: Lane;
  readonly pacing: Pacing;
}

/** A call that may be made. */
interface ReadyCall {
  readonly model: ResolvedModel;
  readonly request: ModelRequest;
  readonly options: ModelCallOptions;
  readonly language: LanguageModel;
  readonly loaded: LoadedContext | undefined;
}

/** All calls of a process must go through one caller, so that they share their lanes. */
export function modelCaller({ clock, random, fetch }: CallerDeps): CallModel {
  const load = providerLoader(fetch);
  const lanes = new Map<string, Lane>();
  /** Whether a model wants its reasoning back, by its name, where its server has said so. */
  const learned = new Map<string, ReasoningPolicy>();
  /** Settings that a model has refused, by its name. */
  const refused = new Map<string, Set<Setting>>();
  const readContext = contextReader({ clock, fetch });
  /** Models about whose context a person was warned. */
  const warned = new Set<string>();
  /** What was found out about a provider that stays the same object, as that of a program's own model does. */
  const ways = new WeakMap<ResolvedProvider, Way>();
  const wayTo = (provider: ResolvedProvider): Way => {
    const known = ways.get(provider);
    if (known !== undefined) return known;
    const key = laneKey(provider);
    const pacing = pacingOf(provider);
    const { concurrency: maxCalls, maxWaitMs } = pacing;
    const lane = lanes.get(key) ?? openLane({ clock, maxCalls, maxWaitMs, name: provider.name, random });
    lanes.set(key, lane);
    ways.set(provider, { lane, pacing });
    return { lane, pacing };
  };

  return async (model, request, options) => {
    requireKey(model.provider);
    const { signal } = options;
    const language = model.language ?? (await load(model));
    const loaded = model.language === undefined ? await readContext(model, signal) : undefined;
    if (loaded?.assumed === true && !warned.has(model.name)) options.onNotice?.(assumedText(model, loaded));
    if (loaded?.assumed === true) warned.add(model.name);
    // Of many calls that wait for the lane, each holds its request and nothing else.
    const permit = await wayTo(model.provider).lane.acquire({ signal, again: false });
    return callUnder(permit, { model, request, options, language, loaded });
  };

  async function callUnder(
    first: Permit,
    { model, request, options, language, loaded }: ReadyCall,
  ): Promise<ModelReply> {
    const { signal } = options;
    const { lane, pacing } = wayTo(model.provider);
    let policy = reasoningPolicy(model, learned.get(model.name));
    const without = refused.get(model.name) ?? new Set<Setting>();
    refused.set(model.name, without);
    const context =
      loaded === undefined
        ? undefined
        : { ...loaded, tokens: Math.min(loaded.tokens, model.contextTokens ?? Infinity) };
    const room = orRelease(first, () =>
      context === undefined ? Infinity : roomIn(context, model, estimateInput(request)),
    );
    const promptWith = (chosen: ReasoningPolicy): Prompt => {
      const whole = promptOf(request, model, { policy: chosen, without });
      const { maxOutputTokens = room } = whole.call;
      return maxOutputTokens <= room ? whole : { ...whole, call: { ...whole.call, maxOutputTokens: room } };
    };
    let prompt = orRelease(first, () => promptWith(policy));
    const counts = { throttled: 0, transient: 0, final: 0 };
    const lost: LostTokens = { input: 0, output: 0 };
    let adaptations = 0;
    /** The request in a form that the server may take, going by why it refused the last one. */
    const adapt = (failure: CallFailure): Prompt | undefined => {
      const { text = "" } = failure;
      const wanted = learnedFrom(text, model);
      if (wanted !== undefined) learned.set(model.name, wanted);
      const next = wanted ?? (isReasoningRefused(text) ? "never" : policy);
      if (next !== policy) {
        policy = next;
        return promptWith(policy);
      }
      const setting = failure.kind === "final" ? refusedSetting(text, settingsIn(prompt, without)) : undefined;
      if (setting !== undefined) {
        without.add(setting);
        if (setting === "effort" || setting === "temperature")
          options.onNotice?.(`${model.name} does not take \`${setting}\`; it is left out`);
        return promptWith(policy);
      }
      const shorter = outputLimitIn(text) ?? outputRoom(failure, prompt.call.maxOutputTokens);
      return shorter === undefined ? undefined : { ...prompt, call: { ...prompt.call, maxOutputTokens: shorter } };
    };
    for (let permit = first; ; permit = await lane.acquire({ signal, again: true })) {
      const progress = { output: 0, started: false };
      const collect = {
        ...options,
        model: model.name,
        agent: request.agent,
        keepState: request.format !== "fenced",
        keepReasoning: policy !== "never",
        prefix: prompt.prefix,
        usedIds: () => callIds(request.messages),
        progress,
      };
      try {
        const reply = await requestReply({ language, prompt: prompt.call, collect, pacing, clock, signal });
        permit.succeeded();
        const whole = withUsage(reply, { model, request, lost, received: progress.output });
        return context === undefined ? whole : { ...whole, contextLimit: context.tokens };
      } catch (thrown) {
        if (signal.aborted) {
          permit.failed();
          throw signal.reason;
        }
        const failure = readFailure(thrown, model);
        if (progress.started || failure.error.code === "deadline") {
          lost.input += estimateInput(request);
          lost.output += progress.output;
        }
        const pausedMs = release(permit, failure);
        const adapted = adaptations < maxAdaptations ? adapt(failure) : undefined;
        if (adapted !== undefined) {
          adaptations += 1;
          prompt = adapted;
          continue;
        }
        counts[failure.kind] += 1;
        if (counts[failure.kind] >= maxTries[failure.kind]) throw givenUp(failure.error, lost);
        const waitMs = Math.max(pausedMs, pauseBefore(failure, counts.transient, random));
        if (waitMs > pacing.maxWaitMs) throw givenUp(failure.error, lost);
        const [next, most] = [counts[failure.kind] + 1, maxTries[failure.kind]];
        options.onRetry?.({ reason: reasonOf(failure), waitMs, next, most });
        // A throttled call waits in the lane, which pauses all calls.
        if (failure.kind !== "throttled") await sleep(waitMs, clock, signal);
      }
    }
  }
}

/** A request that cannot be sent ends its call before it began. */
function orRelease<T>(permit: Permit, make: () => T): T {
  try {
    return make();
  } catch (thrown) {
    permit.failed();
    throw thrown;
  }
}

/** The settings that a request may be refused for: those it has, and those of our own, unless they are left out already. */
function settingsIn({ call }: Prompt, without: ReadonlySet<Setting>): ReadonlySet<Setting> {
  const sent = new Set<Setting>((["summary", "fallbacks"] as const).filter((setting) => !without.has(setting)));
  if (call.reasoning !== undefined) sent.add("effort");
  if (call.temperature !== undefined) sent.add("temperature");
  return sent;
}

function reasonOf({ kind, error }: CallFailure): string {
  return kind === "throttled" ? "rate limit" : error.message;
}

/** A shorter reply would be of no use. */
const leastOutput = 1_024;

/**
 * Servers count the longest reply as part of the request. When the input alone fits, this is the reply that fits beside it;
 * undefined when a shorter reply does not help.
 */
function outputRoom({ overflow }: CallFailure, asked: number | undefined): number | undefined {
  const { limit, input } = overflow ?? {};
  if (limit === undefined || input === undefined || asked === undefined) return undefined;
  // A few tokens less, since the count may differ by as many.
  const room = limit - input - 64;
  return room >= Math.min(leastOutput, limit / 8) && room < asked ? room : undefined;
}

/** A hash, since the key itself must be kept nowhere but in the request. */
function laneKey({ name, baseUrl, key }: ResolvedProvider): string {
  return createHash("sha256")
    .update(JSON.stringify([name, baseUrl, key ?? null]))
    .digest("base64");
}

/** How long the lane is closed. */
function release(permit: Permit, { kind, waitMs }: CallFailure): number {
  if (kind === "throttled") return permit.throttled(waitMs);
  permit.failed();
  return 0;
}

function pauseBefore({ kind, waitMs }: CallFailure, transient: number, random: () => number): number {
  if (kind === "throttled") return waitMs ?? 0;
  const backoff = Math.min(longestPauseMs, firstPauseMs * 2 ** (transient - 1)) * (0.5 + random() / 2);
  return Math.max(waitMs ?? 0, backoff);
}

/** Tokens of tries whose replies began and were dropped. They are paid for all the same. */
interface LostTokens {
  input: number;
  output: number;
}

/** An error after paid tries has the verdict `unknown`, so that nobody takes it for a call that never happened. */
function givenUp(error: TuttiError, lost: LostTokens): TuttiError {
  if (lost.input === 0) return error;
  const { cause, details } = error;
  return new TuttiError(error.code, error.message, {
    cause,
    retry: "unknown",
    ...(details === undefined ? {} : { details }),
  });
}

interface UsageParts {
  readonly model: ResolvedModel;
  readonly request: ModelRequest;
  readonly lost: LostTokens;
  /** Estimated tokens of the reply, for a server that does not count. */
  readonly received: number;
}

function withUsage(reply: CollectedReply, { model, request, lost, received }: UsageParts): ModelReply {
  const { message, finish, malformed, tokens: counted } = reply;
  const tokens: TokenCounts = {
    input: counted.input ?? estimateInput(request),
    output: counted.output ?? received,
    cacheRead: counted.cacheRead ?? 0,
    cacheWritten: counted.cacheWritten ?? 0,
    forAnHour: cachesForAnHour(request, model),
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
    ...(lost.input + lost.output === 0 ? {} : { contextTokens: tokens.input + tokens.output }),
    ...(malformed.length === 0 ? {} : { malformed }),
    ...(cached.read + cached.written === 0 ? {} : { cached }),
  };
}

export function estimateUsage(model: ResolvedModel, request: ModelRequest): Usage {
  const input = estimateInput(request);
  const output = longestReply(request, model);
  const tokens = { input, output, cacheRead: 0, cacheWritten: 0, forAnHour: cachesForAnHour(request, model) };
  const costs = [costOf(model.price, tokens), costOf(model.price, { ...tokens, cacheWritten: input })];
  const known = costs.filter((cost) => cost !== null);
  return {
    input_tokens: input,
    output_tokens: output,
    money_micro_usd: known.length === 0 ? unknownCost(model) : Math.max(...known),
  };
}

/**
 * Nobody is asked about the price of a model on a server of one's own, or of one that the program made itself: it counts as free. The usage that is recorded after
 * the call still says that the price is not known, so that people are told once.
 */
function unknownCost({ provider, language }: ResolvedModel): number | null {
  return isOwnServer(provider) || language !== undefined ? 0 : null;
}

interface SeenCalls {
  length: number;
  /** The last message that was looked at. */
  last: CompleteMessage | undefined;
  readonly ids: Set<string>;
}

/** A conversation only grows, so each of its messages is looked at once. A shorter one is another list. */
const seenCalls = new WeakMap<readonly CompleteMessage[], SeenCalls>();

function callIds(messages: readonly CompleteMessage[]): ReadonlySet<string> {
  const known = seenCalls.get(messages);
  const isGrown = known !== undefined && known.length > 0 && messages[known.length - 1] === known.last;
  const seen: SeenCalls = isGrown ? known : { length: 0, last: undefined, ids: new Set() };
  for (; seen.length < messages.length; seen.length += 1) {
    seen.last = messages[seen.length];
    for (const part of seen.last?.parts ?? []) if (part.part_type === "tool_call") seen.ids.add(part.data.tool_call_id);
  }
  if (!isGrown) seenCalls.set(messages, seen);
  return seen.ids;
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
