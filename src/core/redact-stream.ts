// Takes secrets out of text that arrives in pieces: holds back only what may be the beginning of one.

import { type Redactor, withLabels } from "./redact.ts";
import type { SecretMatcher } from "./secret-matcher.ts";

export interface RedactStream {
  /** What may be shown now of the stream. */
  push(stream: string, piece: string): string;
  /** What was held back, when the stream is over; it is forgotten. */
  flush(stream: string): string;
  /** Streams that are remembered. */
  readonly size: number;
}

interface Held {
  /** Not shown yet. */
  text: string;
  /** The last that was before it, to tell whether a secret of ours can begin there. */
  before: string;
}

const defaultMaxStreams = 1_000;
const beforeLength = 8;
/** Stands for what was before that: a letter, so that its cut is not taken for the beginning of the text. */
const more = "x";

/**
 * Of more streams than `maxStreams` the one that was quiet longest is forgotten with what it held: it was only on its
 * way, and comes whole with its message.
 */
export function redactStream(
  { matcher }: Pick<Redactor, "matcher">,
  { maxStreams = defaultMaxStreams }: { readonly maxStreams?: number } = {},
): RedactStream {
  const streams = new Map<string, Held>();

  return {
    push(stream, piece) {
      const held = streams.get(stream) ?? { text: "", before: "" };
      const { shown, text, before } = take(matcher, { ...held, text: held.text + piece });
      // Set anew, so that the map is in the order of the last piece.
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
    get size() {
      return streams.size;
    },
  };
}

/** What can be shown of it, and what is then held. */
function take(matcher: SecretMatcher, held: Held): Held & { readonly shown: string } {
  const raw = held.before + held.text;
  let cut = matcher.mayBegin(raw);
  const spans = matcher.spans(raw);
  // A secret in which another may begin is shown when it is known where that one ends.
  for (const { start, end } of spans) if (start < cut && cut < end) cut = start;
  // Secrets that reach into each other without end.
  if (raw.length - cut > 2 * matcher.longest) cut = raw.length;
  const done = spans.filter(({ end }) => end <= cut);
  const from = Math.min(held.before.length, done[0]?.start ?? cut);
  const gone = withLabels(raw.slice(0, cut), done);
  const before = gone.length > beforeLength ? more + gone.slice(-beforeLength) : gone;
  return { shown: gone.slice(from), text: raw.slice(Math.max(cut, from)), before };
}
