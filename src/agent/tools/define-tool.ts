// How a project writes a tool of its own: plain data and a function, with a schema of any library that speaks Standard Schema.

import type { Effect } from "../../protocol/invocation/approval-policy.ts";

/** The part of Standard Schema that is used here; zod, valibot, arktype and others have it. */
export interface StandardSchema<Output = unknown> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>;
    readonly types?: { readonly input: unknown; readonly output: Output } | undefined;
    /** Where the library can tell its schema as JSON Schema. */
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
  /** Fires when the task is canceled and when the tool's time is up. */
  readonly signal: AbortSignal;
  /** The same for every try of this call and different for any other: pass it on where a service takes one. */
  readonly key: string;
  /** Folders the task may touch; the first is where it works. */
  readonly roots: readonly string[];
  /** Shown while the call runs; not kept. */
  progress(text: string): void;
}

export interface ToolDefinition<Output = unknown> {
  readonly name: string;
  readonly description: string;
  readonly input: StandardSchema<Output>;
  /** JSON Schema of the input, for a library that cannot tell it. */
  readonly parameters?: Readonly<Record<string, unknown>>;
  /** All it may bring about; approvals go by it. */
  readonly effects: readonly Effect[];
  /** May it run again when it was interrupted? No, when absent. */
  readonly repeatable?: boolean;
  /** A minute when absent. */
  readonly timeout_ms?: number;
  /** What it returns is told to the model, as text or as JSON; what it throws too. */
  readonly run: (input: Output, context: UserToolContext) => unknown;
}

/** Changes nothing; gives `run` the type of its input. */
export function defineTool<Output>(definition: ToolDefinition<Output>): ToolDefinition<Output> {
  return definition;
}
