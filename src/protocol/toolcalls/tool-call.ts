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

export type ViolationKind =
  | "json_fence"
  | "drifted_fence"
  | "opener_closed_block"
  | "several_objects"
  | "key_alias"
  | "extra_keys"
  | "generic_wrapper"
  | "channel_suffix"
  | "bare_call"
  | "unregistered_call"
  | "other_dialect"
  | "unclosed_reasoning"
  | "orphan_reasoning_close"
  | "too_many_violations";

/** A departure from the format. The call ran all the same, except for `unregistered_call` and `other_dialect`. */
export interface Violation {
  readonly kind: ViolationKind;
  readonly message: string;
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
