import assert from "node:assert/strict";
import { test } from "node:test";

import { overflowIn } from "./context-overflow.ts";

/** Refusals as the servers write them, with the limit and the input that they tell. */
const refusals: readonly (readonly [server: string, text: string, limit?: number, input?: number])[] = [
  ["Anthropic", "prompt is too long: 213462 tokens > 200000 maximum", 200_000, 213_462],
  [
    "Anthropic with the reply",
    "input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000, decrease input length or `max_tokens` and try again",
    200_000,
    188_240,
  ],
  ["OpenAI", "Your input exceeds the context window of this model. Please adjust your input and try again."],
  ["OpenAI by code", '{"error":{"code":"context_length_exceeded","message":"too long"}}'],
  [
    "OpenAI's limit of the input",
    "Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 300123 tokens. Please reduce the length of the messages.",
    272_000,
    300_123,
  ],
  [
    "OpenAI chat completions",
    "This model's maximum context length is 8192 tokens. However, your messages resulted in 8545 tokens. Please reduce the length of the messages.",
    8192,
    8545,
  ],
  [
    "Gemini",
    "The input token count (1196265) exceeds the maximum number of tokens allowed (1048575).",
    1_048_575,
    1_196_265,
  ],
  ["llama.cpp", "the request exceeds the available context size, try increasing it"],
  [
    "llama.cpp of today",
    "request (5021 tokens) exceeds the available context size (4096 tokens), try increasing it",
    4096,
    5021,
  ],
  [
    "llama.cpp in numbers",
    '{"error":{"code":400,"message":"too long","type":"exceed_context_size_error","n_prompt_tokens":5021,"n_ctx":4096}}',
    4096,
    5021,
  ],
  ["llama.cpp while it writes", "Context size has been exceeded."],
  [
    "vLLM",
    "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens (3000 in the messages, 2000 in the completion). Please reduce the length of the messages or completion.",
    4096,
    3000,
  ],
  [
    "vLLM with the reply",
    "'max_tokens' or 'max_completion_tokens' is too large: 2000. This model's maximum context length is 4096 tokens and your request has 2104 input tokens (2000 > 4096 - 2104).",
    4096,
    2104,
  ],
  [
    "vLLM by its prompt",
    "The decoder prompt (length 9000) is longer than the maximum model length of 8192.",
    8192,
    9000,
  ],
  ["SGLang", "The input (9000 tokens) is longer than the model's context length (8192 tokens).", 8192, 9000],
  ["Ollama", "the input length exceeds the maximum context length"],
  ["Ollama by how much", "prompt too long; exceeded max context length by 123 tokens"],
  [
    "LM Studio",
    "The number of tokens to keep from the initial prompt is greater than the context length (n_keep: 5000>= n_ctx: 4096). Try to load the model with a larger context length",
    4096,
    5000,
  ],
  [
    "LM Studio, once more",
    "Trying to keep the first 5000 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens, which is not enough.",
    4096,
    5000,
  ],
  [
    "OpenRouter",
    "This endpoint's maximum context length is 32768 tokens. However, you requested about 40000 tokens (39000 of text input, 1000 in the output). Please reduce the length of either one",
    32_768,
    39_000,
  ],
  [
    "Mistral",
    "Prompt contains 40961 tokens and 0 draft tokens, too large for model with 32768 maximum context length",
    32_768,
    40_961,
  ],
  [
    "DeepSeek",
    "This model's maximum context length is 131072 tokens. However, you requested 140000 tokens (136000 in the messages, 4000 in the completion).",
    131_072,
    136_000,
  ],
  ["xAI", "This model's maximum prompt length is 131072 but the request contains 537812 tokens.", 131_072, 537_812],
  ["Groq", "Please reduce the length of the messages or completion."],
  [
    "Cerebras",
    "Please reduce the length of the messages or completion. Current length is 9000 while limit is 8192",
    8192,
    9000,
  ],
  [
    "Moonshot",
    "Invalid request: Your request exceeded model token limit: 262144 (requested: 300000)",
    262_144,
    300_000,
  ],
  ["GitHub Copilot", "prompt token count of 140000 exceeds the limit of 128000", 128_000, 140_000],
  ["MiniMax", "invalid params, context window exceeds limit"],
  ["Bedrock", "Input is too long for requested model."],
  ["DashScope", "Range of input length should be [1, 129024]", 129_024],
  [
    "an account's tokens per minute",
    "Request too large for gpt-4o in organization org-1 on tokens per min (TPM): Limit 30000, Requested 41234.",
    30_000,
    41_234,
  ],
];

test("a request that is too long is recognised in the words of every server, with the numbers it gives", () => {
  for (const [server, text, limit, input] of refusals) {
    const expected = { ...(limit === undefined ? {} : { limit }), ...(input === undefined ? {} : { input }) };
    assert.deepEqual(overflowIn(text), expected, server);
  }
});

test("other refusals are not taken for one that is too long", () => {
  const others = [
    "Rate limit reached for gpt-4o on tokens per min (TPM): Limit 30000, Used 29000, Requested 2000. Please try again in 2s.",
    "max_tokens: 200000 > 64000, which is the maximum allowed number of output tokens for claude-sonnet-4-5",
    "messages.1.content.0: Invalid `signature` in `thinking` block. The block is bound to a different conversation.",
    "Invalid value: 'tool'. Supported values are: 'system', 'user'.",
    "This request would exceed your organization's rate limit of 30,000 input tokens per minute",
    "The image is too large: 12 MB > 5 MB maximum",
  ];
  for (const text of others) assert.equal(overflowIn(text), undefined, text);
});
