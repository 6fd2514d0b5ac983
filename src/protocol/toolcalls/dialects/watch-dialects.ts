// Judges, while a reply streams in, whether a call without a fence begins at a place, so that it is not shown as text.
import { skipSpace } from "../../white-space.ts";
import type { CallRules } from "../read-call.ts";
import { dialectText } from "./dialect-reading.ts";
import { dialectTokenAt, endsMessage, mayBecomeToken, readDialectAt } from "./model-dialects.ts";
import { beginsPythonList } from "./read-pythonic.ts";

/** `more`: more of the reply is needed. `call`: the rest of the reply decides what it is. */
export type Judgement = "more" | "call" | "text";

export interface WatchedPlace {
  /** Nothing stands before it on its line. */
  readonly opensLine: boolean;
  /** Only blanks and reasoning stand before it in the reply. */
  readonly opensReply: boolean;
  readonly isQuoted: () => boolean;
}

/** What holds for the place where a search begins. */
interface PlaceSearch {
  readonly opensLine: boolean;
  readonly opensReply: boolean;
  /** What may follow the `<` of a token. */
  readonly initials: string;
}

/** A token that is only mentioned is told from one that begins a call by what follows it within this many characters. */
const farEnough = 300;

/** The next place in [from, to), a part of one line, where a call may begin; -1 if there is none. */
export function nextWatched(
  text: string,
  { from, to }: { readonly from: number; readonly to: number },
  { opensLine, opensReply, initials }: PlaceSearch,
): number {
  if (opensReply) {
    const start = skipSpace(text, from, to);
    if (start < to && (text[start] === "{" || text[start] === "[")) return start;
  }
  if (opensLine && text[from] === "[") return from;
  const angle = nextBefore(text, { needle: "<", from, to }, initials);
  const bracket = nextBefore(text, { needle: "[", from, to }, "T");
  return angle === -1 || bracket === -1 ? Math.max(angle, bracket) : Math.min(angle, bracket);
}

/** The next needle that one of `followers` follows, or that ends the text. */
function nextBefore(
  text: string,
  { needle, from, to }: { readonly needle: string; readonly from: number; readonly to: number },
  followers: string,
): number {
  for (let at = text.indexOf(needle, from); at !== -1 && at < to; at = text.indexOf(needle, at + 1)) {
    if (at + 1 >= text.length || followers.includes(text.charAt(at + 1))) return at;
  }
  return -1;
}

/** `rest` is the reply from the place on, as far as it is there. Looks at a limited part of it. */
export function judge(rest: string, place: WatchedPlace, rules: CallRules): Judgement {
  const token = dialectTokenAt(rest, 0);
  const head = rest.slice(0, (token?.length ?? 0) + farEnough);
  const isLong = head.length >= farEnough;
  if (token !== undefined) {
    if (endsMessage(token) || place.isQuoted()) return "text";
    if (/^<tool_call>\s*\{/.test(head)) return "call";
    if (!isLong) return "more";
    // Whether reasoning in a dialect is closed is known only at its end.
    if (token === "[THINK]" || token === "<|channel>thought") return "call";
    return readDialectAt(dialectText(head, { rules, schemas: undefined, cut: false }), 0) === undefined
      ? "text"
      : "call";
  }
  if (mayBecomeToken(rest)) return "more";
  if ((place.opensLine || place.opensReply) && head.startsWith("[") && rules.tools !== undefined) {
    if (beginsPythonList(head, 0, rules)) return isLong ? "call" : "more";
    if (!isLong && /^\[\s*(?:[A-Za-z_][\w.-]*\s*)?$/.test(head)) return "more";
  }
  if (!place.opensReply) return "text";
  if (/^(?:\{\s*"|[[\s]*\{)/.test(head)) return "call";
  return !isLong && /^(?:\{\s*|[[\s]*)$/.test(head) ? "more" : "text";
}
