// The common interface of the providers' packages, as types only: importing this file loads none of them.

import type { createAnthropic } from "@ai-sdk/anthropic";

export type LanguageModel = ReturnType<ReturnType<typeof createAnthropic>["languageModel"]>;
export type CallOptions = Parameters<LanguageModel["doStream"]>[0];
export type PromptMessage = CallOptions["prompt"][number];
export type AssistantPart = Extract<PromptMessage, { role: "assistant" }>["content"][number];
export type UserPart = Extract<PromptMessage, { role: "user" }>["content"][number];
export type ToolPart = Extract<PromptMessage, { role: "tool" }>["content"][number];
export type FunctionTool = Extract<NonNullable<CallOptions["tools"]>[number], { type: "function" }>;
type Stream = Awaited<ReturnType<LanguageModel["doStream"]>>["stream"];
export type StreamPart = Stream extends ReadableStream<infer Part> ? Part : never;
export type PartStream = ReadableStream<StreamPart>;
