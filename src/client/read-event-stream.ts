// Reads server-sent events from a stream of bytes, however it is cut into chunks.

import { TuttiError } from "../protocol/error.ts";

export interface SentEvent {
  /** `message` when the server gave no name. */
  readonly event: string;
  readonly data: string;
  /** The last id the server has sent; empty when it has sent none. */
  readonly id: string;
}

/** A limit, so that a line without an end cannot fill the memory. Events of the service are never this long. */
const longestEvent = 64 * 1024 * 1024;

/**
 * `push` takes the next piece of text and returns the events it completes. An event cut off by the end of the stream is
 * dropped.
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
      // A carriage return at the end of a chunk ended its line; a line feed right after it belongs to it.
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
  throw new TuttiError(
    "too_large",
    `an event of the stream is longer than ${longestEvent} characters, which is the limit`,
  );
}

export interface ReadOptions {
  /** How long the stream may be silent, without even a heartbeat, before it counts as lost. */
  readonly silenceMs: number;
  readonly onBytes: () => void;
}

/** Ends when the stream ends; throws when it breaks or is silent for too long. */
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
    // Also when the caller stops reading early: the connection is closed.
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
