// A model object as a provider's package makes one: calls the tool `weather`, and then says that it is cold.

interface Asked {
  readonly prompt: readonly { readonly role: string; readonly content: unknown }[];
}

const finish = (reason: string) => ({
  type: "finish",
  finishReason: { unified: reason, raw: undefined },
  usage: { inputTokens: { total: 10 }, outputTokens: { total: 5 } },
});

/** It keeps what it was asked. `before` is awaited before each reply. */
export function weatherModel({ before = async () => undefined }: { readonly before?: () => Promise<unknown> } = {}) {
  const asked: Asked[] = [];
  return {
    asked,
    specificationVersion: "v4",
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
