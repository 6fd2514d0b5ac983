// How a project writes a tool of its own: plain data and a function, with a schema of any library that follows Standard Schema.

import type { Effect } from "../../protocol/invocation/approval-policy.ts";

/** The part of Standard Schema that is used here; zod, valibot, arktype and others implement it. */
export interface StandardSchema<Output = unknown> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>;
    readonly types?: { readonly input: unknown; readonly output: Output } | undefined;
    /** Present when the library can write its schema as JSON Schema. */
    readonly jsonSchema?: { readonly input: (options: { readonly target: string }) => Record<string, unknown> };
  };
}

export type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] };

export interface StandardIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

export interface UserToolContext {
  /** Aborts when the task is canceled and when the tool has used up its time. */
  readonly signal: AbortSignal;
  /** An idempotency key, the same for every try of this call and different for any other. Pass it on to services that take one. */
  readonly key: string;
  /** The folders the task may touch; relative paths start at the first. */
  readonly roots: readonly string[];
  /** Shows a text while the call runs; it is not recorded. */
  progress(text: string): void;
}

export interface ToolDefinition<Output = unknown> {
  readonly name: string;
  readonly description: string;
  readonly input: StandardSchema<Output>;
  /** The JSON Schema of the input, for a library that cannot write it. */
  readonly parameters?: Readonly<Record<string, unknown>>;
  /** All effects the tool may have; approvals are decided by them. */
  readonly effects: readonly Effect[];
  /** Whether the tool may run again after it was interrupted; false when absent. */
  readonly repeatable?: boolean;
  /** A minute when absent. */
  readonly timeout_ms?: number;
  /** The model is given what this returns, as text or as JSON, or the message of what it throws. */
  readonly run: (input: Output, context: UserToolContext) => unknown;
}

/** Returns the definition unchanged; only the types matter: `run` gets the type of the input. */
export function defineTool<Output>(definition: ToolDefinition<Output>): ToolDefinition<Output> {
  return definition;
}
