// The tool `weather`, and a model object as a provider's package makes one, which calls it and then says that it is cold.

import { z } from "zod";

import { tool } from "../../src/index.ts";

export const weather = tool({
  name: "weather",
  description: "Tells the weather.",
  input: z.object({ city: z.string() }),
  effects: ["network"],
  run: ({ city }) => ({ city, degrees: -3 }),
});

interface Asked {
  readonly prompt: readonly { readonly role: string; readonly content: unknown }[];
  readonly tools?: unknown[];
}

const usage = { inputTokens: { total: 10, cacheRead: 2 }, outputTokens: { total: 5 } };
const usageOfV2 = { inputTokens: 10, outputTokens: 5, totalTokens: 15, cachedInputTokens: 2 };

interface WeatherModelOptions {
  /** Of the interface between the AI SDK and its models. */
  readonly version?: string;
  /** Awaited before each reply. */
  readonly before?: () => Promise<unknown>;
}

/** It keeps what it was asked. */
export function weatherModel({ version = "v4", before = async () => undefined }: WeatherModelOptions = {}) {
  const asked: Asked[] = [];
  const finish = (reason: string) => ({
    type: "finish",
    finishReason: version === "v2" ? reason : { unified: reason, raw: undefined },
    usage: version === "v2" ? usageOfV2 : usage,
  });
  return {
    asked,
    specificationVersion: version,
    provider: "mine.chat",
    modelId: "small",
    supportedUrls: {},
    async doStream(options: Asked) {
      asked.push(options);
      await before();
      const isFirst = !options.prompt.some(({ role }) => role === "tool");
      const parts: readonly object[] = isFirst
        ? [
            { type: "stream-start", warnings: [] },
            { type: "tool-call", toolCallId: "c1", toolName: "weather", input: '{"city":"Oslo"}' },
            finish("tool-calls"),
          ]
        : [
            { type: "text-start", id: "t" },
            { type: "text-delta", id: "t", delta: "It is " },
            { type: "text-delta", id: "t", delta: "cold." },
            { type: "text-end", id: "t" },
            finish("stop"),
          ];
      return { stream: ReadableStream.from(parts) };
    },
  };
}
