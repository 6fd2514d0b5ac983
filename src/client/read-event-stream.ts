// Reads server-sent events from a body of bytes, wherever the chunks of it begin and end.

import { TuttiError } from "../protocol/error.ts";

export interface SentEvent {
  /** `message` when the server gave no name. */
  readonly event: string;
  readonly data: string;
  /** The last id that was sent up to here; empty when none was. */
  readonly id: string;
}

/** One event is never larger; a line that does not end must not fill the memory. */
const longestEvent = 64 * 1024 * 1024;

/**
 * Takes text as it comes and gives the events that are complete; what the end of the stream cuts off does not count.
 * @internal Exported for its tests only.
 */
export function eventStreamReader(): { push(text: string): SentEvent[] } {
  let pieces: string[] = [];
  let held = 0;
  let begun = false;
  let afterReturn = false;
  let event = "";
  let id = "";
  let data: string[] = [];
  let size = 0;

  const take = (line: string, found: SentEvent[]): void => {
    if (line === "") {
      if (data.length > 0) found.push({ event: event === "" ? "message" : event, data: data.join("\n"), id });
      event = "";
      data = [];
      size = 0;
      return;
    }
    const colon = line.indexOf(":");
    if (colon === 0) return;
    const field = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? "" : line.slice(line.startsWith(" ", colon + 1) ? colon + 2 : colon + 1);
    if (field === "data") {
      size = bounded(size + value.length);
      data.push(value);
    } else if (field === "event") event = value;
    else if (field === "id" && !value.includes("\0")) id = value;
  };

  return {
    push(text) {
      const found: SentEvent[] = [];
      if (text === "") return found;
      let from = !begun && text.startsWith("\ufeff") ? 1 : 0;
      begun = true;
      // The line ended with the return before; its feed may come in the next chunk.
      if (afterReturn && text.startsWith("\n", from)) from += 1;
      afterReturn = false;
      const ends = /\r\n|\r|\n/g;
      ends.lastIndex = from;
      for (let end = ends.exec(text); end !== null; end = ends.exec(text)) {
        pieces.push(text.slice(from, end.index));
        from = ends.lastIndex;
        const line = pieces.join("");
        pieces = [];
        held = 0;
        afterReturn = end[0] === "\r" && from === text.length;
        take(line, found);
      }
      if (from < text.length) {
        pieces.push(text.slice(from));
        held = bounded(held + text.length - from);
      }
      return found;
    },
  };
}

function bounded(size: number): number {
  if (size <= longestEvent) return size;
  throw new TuttiError("too_large", `an event of the stream is over ${longestEvent} characters; it is not read on`);
}

export interface ReadOptions {
  /** How long the stream may be silent, heartbeats included, before it counts as lost. */
  readonly silenceMs: number;
  readonly onBytes: () => void;
}

/** Ends when the stream does; throws when it breaks or falls silent. */
export async function* readEventStream(
  body: ReadableStream<Uint8Array>,
  { silenceMs, onBytes }: ReadOptions,
): AsyncGenerator<SentEvent> {
  const reader = body.getReader();
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  const events = eventStreamReader();
  try {
    for (;;) {
      const { done, value } = await within(reader.read(), silenceMs);
      if (done) return;
      onBytes();
      yield* events.push(decoder.decode(value, { stream: true }));
    }
  } finally {
    // Also when the one who reads has had enough: the connection is let go.
    await reader.cancel().catch(() => undefined);
  }
}

async function within<T>(work: Promise<T>, ms: number): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new TuttiError("unreachable", `the event stream was silent for ${ms} ms`)), ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
