// Notices a model that makes the same call again and again and gets the same result each time.

import { fingerprint } from "../../core/fingerprint.ts";
import { resultText } from "../../core/preview.ts";
import type { CompleteMessage, Part, ToolCall, ToolResult } from "../../protocol/task/message.ts";

/** How often a call must give the same result, counted once per reply, for a warning, for withholding it, for a stop. */
const warnAt = 2;
const blockAt = 3;
const stopAt = 4;
/** How many different calls are remembered; a model that repeats a longer cycle is stopped by its maximum of turns. */
const remembered = 100;
const longestKey = 400;

export interface RepeatGuard {
  /** Notes the calls of a reply. */
  reply(message: CompleteMessage): void;
  /** Returns the result as the model is to see it. */
  result(result: ToolResult): ToolResult;
  /** Why the task must stop; undefined while it may go on. */
  readonly stopReason: string | undefined;
}

interface Entry {
  result: ToolResult;
  count: number;
  /** The id of the last reply that made the call. */
  reply: string;
}

interface Calls {
  readonly entries: Map<string, Entry>;
  /** The calls of the last reply: their ids with their keys. */
  readonly latest: Map<string, string>;
}

/** `mayRepeat`: tools that are called again for good reason, such as those that wait. */
export function repeatGuard(mayRepeat: (tool: string) => boolean): RepeatGuard {
  return new Guard(mayRepeat);
}

/** A class, since one is made for every run and many are alive at once. */
class Guard implements RepeatGuard {
  stopReason: string | undefined;
  readonly #mayRepeat: (tool: string) => boolean;
  /** Made with the first call: an agent that only answers needs none of it. */
  #calls: Calls | undefined;
  #reply = "";

  constructor(mayRepeat: (tool: string) => boolean) {
    this.stopReason = undefined;
    this.#mayRepeat = mayRepeat;
  }

  reply(message: CompleteMessage): void {
    this.#reply = message.id;
    this.#calls?.latest.clear();
    for (const part of message.parts) {
      if (part.part_type !== "tool_call" || this.#mayRepeat(part.data.tool_name)) continue;
      this.#calls ??= { entries: new Map(), latest: new Map() };
      this.#calls.latest.set(part.data.tool_call_id, keyOf(part.data));
    }
  }

  result(result: ToolResult): ToolResult {
    const key = this.#calls?.latest.get(result.tool_call_id);
    if (this.#calls === undefined || key === undefined) return result;
    const { entries } = this.#calls;
    const entry = entries.get(key);
    if (entry !== undefined) entries.delete(key);
    if (entry === undefined || resultText(entry.result) !== resultText(result)) {
      if (entries.size >= remembered) forgetOldest(entries);
      entries.set(key, { result, count: 1, reply: this.#reply });
      return result;
    }
    entries.set(key, entry);
    // A model that makes one call twice in a reply has not seen its result yet.
    if (entry.reply !== this.#reply) entry.count += 1;
    entry.reply = this.#reply;
    if (entry.count < warnAt) return result;
    if (entry.count >= stopAt) {
      this.stopReason = `the model called ${result.tool_name} ${entry.count} times with the same arguments and the same result`;
    }
    return { ...result, parts: entry.count >= blockAt ? [blocked] : [...result.parts, warning] };
  }
}

const warning: Part = {
  part_type: "text",
  data: "[You made this very call before, and the result is the same. Do not make it again; use what you have or try something else.]",
};
const blocked: Part = {
  part_type: "text",
  data: "[Withheld: you made this very call twice before, and the result is still the same. Once more and the task is stopped. Do something else, or call `final` and say what is missing.]",
};

function forgetOldest(entries: Map<string, Entry>): void {
  const [oldest] = entries.keys();
  if (oldest !== undefined) entries.delete(oldest);
}

/** Long arguments are compared by their fingerprint, so that they need not be kept in memory. */
function keyOf({ tool_name, input }: ToolCall): string {
  const text = JSON.stringify(input) ?? "";
  return `${tool_name} ${text.length > longestKey ? fingerprint(text) : text}`;
}
