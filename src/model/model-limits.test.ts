// The limits of known models, compared with the catalogues of the providers' packages.
import assert from "node:assert/strict";
import { test } from "node:test";

import { anthropicModelCatalog } from "@ai-sdk/anthropic/internal";

import { limitsOf } from "./model-limits.ts";
import { outputLimitIn } from "./output-refusal.ts";

test("the longest output of every Claude model is the one of the package's catalogue", () => {
  const entries = Object.entries(anthropicModelCatalog);
  assert.ok(entries.length > 10);
  for (const [id, { requestConfig }] of entries) {
    assert.equal(limitsOf(`anthropic/${id}`).mostOutputTokens, requestConfig.language.maxOutputTokens, id);
  }
});

test("the first limit holds some thinking, and a small context keeps room for the conversation", () => {
  const { maxOutputTokens, mostOutputTokens } = limitsOf("openai/gpt-6-sol");
  assert.deepEqual([maxOutputTokens, mostOutputTokens], [32_000, 128_000]);
  assert.deepEqual(limitsOf("vllm/qwen3-coder").maxOutputTokens, 16_384);
  assert.deepEqual(limitsOf("vllm/qwen3-coder", 8_192).mostOutputTokens, 2_048);
  assert.equal(limitsOf("openrouter/anthropic/claude-opus-4.5").mostOutputTokens, 64_000);
  assert.equal(limitsOf("openrouter/google/gemini-3.8-flash").mostOutputTokens, 65_536);
});

test("the input limit is that of the very model, not of its family, and of an unknown one the smallest of its maker", () => {
  const context = (name: string): number | null => limitsOf(name).contextTokens;
  assert.deepEqual(
    ["gpt-5.4", "gpt-5.4-mini", "gpt-5.3-codex-spark", "gpt-5.2"].map((id) => context(`openai/${id}`)),
    [922_000, 272_000, 100_000, 272_000],
  );
  assert.deepEqual(
    ["sonnet-4-6", "sonnet-4-5", "saga-9"].map((id) => context(`anthropic/claude-${id}`)),
    [1_000_000, 200_000, 200_000],
  );
  assert.deepEqual([context("google/gemini-4-carbon"), context("google/gemini-3.5-flash")], [983_040, 1_048_576]);
});

test("a refusal that names the longest output is read in the words of every provider", () => {
  const said: readonly (readonly [string, number | undefined])[] = [
    ["max_tokens: 200000 > 64000, which is the maximum allowed number of output tokens for claude-x", 64_000],
    ["max_tokens is too large: 65536. This model supports at most 16384 completion tokens, whereas …", 16_384],
    ["`max_completion_tokens` must be less than or equal to `8192`, the maximum value for …", 8_192],
    ["Invalid max_tokens value, the valid range of max_tokens is [1, 8192]", 8_192],
    ["… maxOutputTokens value of 100000 but the supported range is from 1 (inclusive) to 65537 (exclusive).", 65_536],
    ["max_tokens must be at least 1", undefined],
  ];
  for (const [text, most] of said) assert.equal(outputLimitIn(text), most, text);
});
