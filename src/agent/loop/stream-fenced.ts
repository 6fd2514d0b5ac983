// Shows a reply in the fenced format while it streams in: its text as text, and each call as its name, then its arguments.

import type { Profile } from "../../protocol/toolcalls/dialect.ts";
import { createToolCallReader, type ToolCallEvent } from "../../protocol/toolcalls/tool-call-reader.ts";

export interface FencedStream {
  /** Takes the next piece of the reply, cut anywhere. */
  push(text: string): void;
  /** Shows what was held back until the end of the reply. */
  end(): void;
}

/** For display only: the calls that run are read from the whole reply. */
export function streamFenced(
  { toolNames, profile }: { readonly toolNames: ReadonlySet<string>; readonly profile: Profile },
  show: (channel: "text" | "tool", text: string) => void,
): FencedStream {
  const reader = createToolCallReader({ tools: toolNames, profile });
  /** The call that was shown while it was written, until its block ends. */
  let shown: { readonly block: number; arguments: boolean } | undefined;

  const showEvent = (event: ToolCallEvent): void => {
    switch (event.type) {
      case "text":
        show("text", event.text);
        return;
      case "call_named":
        shown = { block: event.block, arguments: false };
        show("tool", event.name);
        return;
      case "call_arguments":
        if (shown !== undefined) shown.arguments = true;
        show("tool", event.text);
        return;
      case "call_completed": {
        const isShown = shown?.block === event.block;
        if (!isShown) show("tool", event.name);
        if (!isShown || shown?.arguments === false) show("tool", JSON.stringify(event.args));
        shown = undefined;
        return;
      }
      case "call_failed":
        // A block in which no call could be recognised is text like any other.
        if (shown?.block !== event.block) show("text", event.text);
        shown = undefined;
        return;
      case "call_started":
        return;
    }
  };
  return {
    push: (text) => reader.push(text).forEach(showEvent),
    end: () => reader.end().forEach(showEvent),
  };
}
