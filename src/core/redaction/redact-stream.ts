// Redacts secrets in text that arrives in pieces; only text that may be the beginning of a secret is held back.

import { type Redactor, withLabels } from "./redact.ts";
import type { SecretMatcher } from "./secret-matcher.ts";

export interface RedactStream {
  /** Adds a piece; returns what may be shown now. */
  push(stream: string, piece: string): string;
  /** Ends the stream; returns what was held back. */
  flush(stream: string): string;
  /** Redacts from now on with another one; what is held back stays held. */
  use(redactor: Pick<Redactor, "matcher">): void;
  /** How many streams are open. */
  readonly size: number;
}

interface Held {
  /** Not shown yet. */
  text: string;
  /** The end of the text before it, which says whether one of our own secrets can begin there. */
  before: string;
}

const defaultMaxStreams = 1_000;
const beforeLength = 8;
/** Stands for earlier text. A letter, so that the cut is not taken for the beginning of the text. */
const more = "x";

/**
 * With more than `maxStreams` streams, the one without a piece for longest is dropped with what it held. No text is lost by
 * that: the whole text comes later, with its message.
 */
export function redactStream(
  redactor: Pick<Redactor, "matcher">,
  { maxStreams = defaultMaxStreams }: { readonly maxStreams?: number } = {},
): RedactStream {
  const streams = new Map<string, Held>();
  let { matcher } = redactor;

  return {
    push(stream, piece) {
      const held = streams.get(stream) ?? { text: "", before: "" };
      const { shown, text, before } = take(matcher, { ...held, text: held.text + piece });
      // Inserted again, so that the map is in the order of the last pieces.
      streams.delete(stream);
      streams.set(stream, { text, before });
      if (streams.size > maxStreams) {
        const [oldest] = streams.keys();
        if (oldest !== undefined) streams.delete(oldest);
      }
      return shown;
    },
    flush(stream) {
      const held = streams.get(stream);
      streams.delete(stream);
      if (held === undefined) return "";
      return take({ ...matcher, mayBegin: (text) => text.length }, held).shown;
    },
    use(next) {
      matcher = next.matcher;
    },
    get size() {
      return streams.size;
    },
  };
}

/** Splits the held text into what can be shown and what is still held. */
function take(matcher: SecretMatcher, held: Held): Held & { readonly shown: string } {
  const raw = held.before + held.text;
  let cut = matcher.mayBegin(raw);
  const spans = matcher.spans(raw);
  // A secret in which another one may begin is held until that one has ended.
  for (const { start, end } of spans) if (start < cut && cut < end) cut = start;
  // Secrets that overlap each other without end are not held for ever.
  if (raw.length - cut > 2 * matcher.longest) cut = raw.length;
  const done = spans.filter(({ end }) => end <= cut);
  const from = Math.min(held.before.length, done[0]?.start ?? cut);
  const gone = withLabels(raw.slice(0, cut), done);
  const before = gone.length > beforeLength ? more + gone.slice(-beforeLength) : gone;
  return { shown: gone.slice(from), text: raw.slice(Math.max(cut, from)), before };
}
