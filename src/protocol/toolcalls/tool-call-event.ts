// What is told of a reply while it streams in.
import type { JsonObject } from "./tool-call.ts";

/** `block` counts the blocks of the reply; a block may complete several calls, or fail. */
export type ToolCallEvent =
  /** Text outside of blocks, reasoning and its tags included. */
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "call_started"; readonly block: number }
  | { readonly type: "call_named"; readonly block: number; readonly name: string }
  /** A piece of the arguments of a named call, as it is written. */
  | { readonly type: "call_arguments"; readonly block: number; readonly text: string }
  | { readonly type: "call_completed"; readonly block: number; readonly name: string; readonly args: JsonObject }
  /** `text` is the whole block with its fences. */
  | { readonly type: "call_failed"; readonly block: number; readonly text: string };
