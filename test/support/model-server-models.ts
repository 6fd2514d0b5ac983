// Models configured against the local model server, one per provider API, and requests to send to them.

import { systemClock } from "../../src/engine/clock.ts";
import { models, type Models } from "../../src/model/model-registry.ts";
import { rehearsalModel } from "../../src/model/rehearsal/rehearsal-model.ts";
import type { Clock } from "../../src/ports.ts";
import type { Model, ModelRequest } from "../../src/model-port.ts";
import { completeMessage, type Message, userMessage } from "../../src/protocol/task/message.ts";
import type { ModelServer } from "./model-server.ts";
import type { Wire } from "./model-server-wires.ts";

export const wires: readonly Wire[] = ["anthropic", "openai", "google", "openai-compatible"];

const price = { input: 1_000_000, output: 10_000_000, cached: 100_000, cache_write: 1_250_000 };

/** Time that passes a hundred times as fast. */
export const hurried: Clock = {
  now: () => performance.now() * 100,
  timer: (ms, fire) => systemClock.timer(ms / 100, fire),
};

export interface HouseOptions {
  /** Of the provider. */
  readonly settings?: Readonly<Record<string, unknown>>;
  readonly clock?: Clock;
  /** In place of the network. */
  readonly fetch?: typeof fetch;
}

export function environment(wire: Wire, server: Pick<ModelServer, "origin">, options: HouseOptions = {}): Models {
  const here = {
    kind: wire,
    base_url: `${server.origin}/v1`,
    key_env: "HERE_KEY",
    format: "native",
    ...options.settings,
  };
  return models({
    config: { providers: { here }, prices: { "here/m": price }, aliases: { quick: "here/m" } },
    env: { HERE_KEY: "key-1234567890" },
    clock: options.clock ?? systemClock,
    ...(options.fetch === undefined ? {} : { fetch: options.fetch }),
    // No jitter, the shortest backoff.
    random: () => 0,
  });
}

export function model(wire: Wire, server: Pick<ModelServer, "origin">, options: HouseOptions = {}): Model {
  return environment(wire, server, options).withRehearsal(rehearsalModel({}));
}

export const weather = {
  name: "weather",
  description: "The weather of a city.",
  parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
};

export function request(
  rest: Partial<ModelRequest> = {},
  said: readonly Message[] = [userMessage("hello")],
): ModelRequest {
  const messages = said.map((message, index) => completeMessage(message, { id: `m${index}`, now: index }));
  return { model: "here/m", agent: "a", system: "Be brief.", messages, tools: [weather], ...rest };
}

export const idle = new AbortController().signal;
