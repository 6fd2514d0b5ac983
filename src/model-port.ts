// What the inside needs of a model: a request, a whole reply or an error, and what is known of the model.

import type { StepContext } from "./ports.ts";
import type { TaskId } from "./protocol/ids.ts";
import type { Usage } from "./protocol/task/budget.ts";
import type { Effort, ProviderOptions } from "./protocol/invocation/call-settings.ts";
import type { Profile } from "./protocol/toolcalls/dialect.ts";
import type { CompleteMessage, Message } from "./protocol/task/message.ts";

export interface ModelTool {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments. */
  readonly parameters: Readonly<Record<string, unknown>>;
}

/** How a model calls tools: through its provider, or in fenced blocks of its text. */
export type ModelFormat = "native" | "fenced";

export interface ModelRequest {
  /** `provider/model`, or an alias of one. */
  readonly model: string;
  readonly agent: string;
  readonly system: string;
  readonly messages: readonly CompleteMessage[];
  /** Offered through the provider; empty with the fenced format, whose contract stands in `system`. */
  readonly tools: readonly ModelTool[];
  /** Native when absent. With `fenced`, calls of earlier turns are written as text too. */
  readonly format?: ModelFormat;
  /** The most the reply may be; the model's own limit when absent. */
  readonly maxOutputTokens?: number;
  /** What the model's settings say when absent. */
  readonly effort?: Effort;
  readonly temperature?: number;
  readonly providerOptions?: ProviderOptions;
  /** The agent may wait for long before its next request, so the provider's cache should last longer. */
  readonly waits?: boolean;
}

/** A call the model made that cannot be run: its arguments are no JSON object, or were cut. It is not in the message. */
export interface MalformedCall {
  readonly tool_name: string;
  /** The arguments as they came. */
  readonly text: string;
  readonly message: string;
}

export interface ModelReply {
  readonly message: Message;
  readonly usage: Usage;
  /** Why it stopped: it had said all, it wants tools run, it was cut at its length, it would not answer, it said nothing. */
  readonly finish: "stop" | "tools" | "length" | "refusal" | "empty";
  /** Told to the model, never run; absent when there are none. */
  readonly malformed?: readonly MalformedCall[];
  /** The tokens of the request and its reply without those of tries that failed; absent when `usage` has no others. */
  readonly contextTokens?: number;
  /** The most tokens that the server has room for, when it says so; it may be less than the model's own limit. */
  readonly contextLimit?: number;
  /** Of the input tokens: read from the provider's cache and written to it. */
  readonly cached?: { readonly read: number; readonly written: number };
}

export interface ModelFacts {
  /** What `auto` means for this model. */
  readonly format: ModelFormat;
  /** The server may refuse tools; the agent then calls them in its text. False when the config names the format. */
  readonly formatMayChange?: boolean;
  /** The models to try next, in this order, when this one refuses or cannot be reached. */
  readonly fallbacks?: readonly string[];
  /** How much drift is accepted in calls that the model writes as text. */
  readonly profile?: Profile;
  /** The most tokens that the conversation may take; null when nobody said. */
  readonly contextTokens: number | null;
  /** The longest reply that is asked for at first. */
  readonly maxOutputTokens: number;
  /** The longest reply that may be asked for once one was cut; `maxOutputTokens` when absent. */
  readonly mostOutputTokens?: number;
}

export interface ModelRetry {
  /** In a few words for people. */
  readonly reason: string;
  readonly waitMs: number;
  /** Which try comes next, and how many there are at most. */
  readonly next: number;
  readonly most: number;
}

export interface ModelCallOptions {
  readonly signal: AbortSignal;
  /** The step that the call is made in, and its tree: a call that another process makes is noted there. */
  readonly step?: Pick<StepContext, "key" | "noted" | "note" | "signal"> & { readonly tree: TaskId };
  /** Text of the reply on its way. A call that is tried again starts its text anew, after `onRetry`. */
  readonly onText?: (text: string) => void;
  readonly onReasoning?: (text: string) => void;
  /** A tool's name when its call begins, then pieces of its arguments. */
  readonly onTool?: (text: string) => void;
  readonly onRetry?: (again: ModelRetry) => void;
  /** Something a person should know about the call; the text of the reply goes on. */
  readonly onNotice?: (text: string) => void;
}

/** Fails with a TuttiError whose retry verdict says whether the call may be made again. */
export interface Model {
  /** The most the call can use: its input and the longest output. */
  estimate(request: ModelRequest): Usage;
  /** Returns a whole reply or none: nothing of a reply that was cut on its way is used. */
  call(request: ModelRequest, options: ModelCallOptions): Promise<ModelReply>;
  /** Absent where a model has nothing to say about itself: native, of unknown size. */
  facts?(model: string): ModelFacts;
}
