// What a reply is parsed into: calls, errors, violations, prose and reasoning.

export type Json = null | boolean | number | string | readonly Json[] | JsonObject;

export interface JsonObject {
  readonly [key: string]: Json;
}

/** One call of the reply. The id counts the calls of this reply; the caller adds the turn to it. */
export interface ParsedToolCall {
  readonly id: string;
  readonly name: string;
  readonly args: JsonObject;
}

export type ToolCallErrorCode =
  | "unterminated"
  | "expected_single_object"
  | "missing_name"
  | "args_not_object"
  | "invalid_json"
  | "inexact_integer"
  | "inline_args"
  | "quoted_call"
  | "not_an_opener"
  | "cut_call"
  | "broken_dialect_call"
  | "too_many_errors";

/** Something that was meant as a call and did not run. */
export interface ToolCallError {
  readonly code: ToolCallErrorCode;
  readonly message: string;
  /** 1-based, in the text as it was given. */
  readonly line: number;
  /** The text around the fault. */
  readonly excerpt: string;
}

/** A form of call that models were trained on, named after them. */
export type ModelDialect =
  | "hermes"
  | "qwen3-coder"
  | "glm"
  | "kimi"
  | "deepseek-v3"
  | "deepseek-v3.1"
  | "deepseek-v3.2"
  | "minimax"
  | "llama"
  | "pythonic"
  | "mistral"
  | "harmony"
  | "gemma";

export const violationKinds = [
  "json_fence",
  "drifted_fence",
  "opener_closed_block",
  "several_objects",
  "key_alias",
  "extra_keys",
  "generic_wrapper",
  "channel_suffix",
  "bare_call",
  "dialect_call",
  "dialect_markup",
  "unregistered_call",
  "other_dialect",
  "unclosed_reasoning",
  "orphan_reasoning_close",
  "too_many_violations",
] as const;
export type ViolationKind = (typeof violationKinds)[number];

/** A departure from the format. The call ran all the same, except for `unregistered_call` and `other_dialect`. */
export interface Violation {
  readonly kind: ViolationKind;
  readonly message: string;
  /** The dialect of a `dialect_call` or a `dialect_markup`. */
  readonly dialect?: ModelDialect;
}

export interface ToolCallReply {
  readonly calls: readonly ParsedToolCall[];
  readonly errors: readonly ToolCallError[];
  readonly violations: readonly Violation[];
  /** What the person sees: everything outside blocks and reasoning, ends trimmed. */
  readonly prose: string;
  readonly reasoning: string;
  /** Calls seen inside reasoning; they are never run. */
  readonly ignored: readonly Omit<ParsedToolCall, "id">[];
}

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
