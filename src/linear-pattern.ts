// Regular expressions that come from outside, matched in time that grows only with the length of the text (RE2).

import { createRequire } from "node:module";

import type { RE2JS } from "re2js";

import { TuttiError } from "./protocol/error.ts";

export interface LinearPattern {
  /** How many instructions the pattern has: matching costs at most this times the length of the text. */
  readonly size: number;
  test(text: string): boolean;
  /** The whole match, then its groups; a group that took no part is "". Undefined when the text does not match. */
  exec(text: string): readonly string[] | undefined;
}

const longestPattern = 1_000;
/** Counted repetitions are written out when a pattern is compiled, so their sum times the length bounds that work. */
const mostWrittenOut = 100_000;
const largestPattern = 20_000;
/** Instructions times characters. A text beyond it is refused instead of holding everybody up for seconds. */
const mostWork = 100_000_000;

/** Loaded with the first pattern: it takes longer to load than most commands take to run. */
let engine: typeof RE2JS | undefined;

function loadEngine(): typeof RE2JS {
  const load: (name: "re2js") => { readonly RE2JS: typeof RE2JS } = createRequire(import.meta.url);
  return (engine ??= load("re2js").RE2JS);
}

/**
 * `source` is written as in JavaScript, and matches anywhere in the text. Throws `invalid_input` for a pattern that cannot
 * be matched in linear time or is too large. Matching a text that is too long for the pattern throws `too_large`.
 */
export function linearPattern(source: string, { dotAll = false } = {}): LinearPattern {
  const problem = unsupportedIn(source);
  if (problem !== undefined) throw refused(source, problem);
  const compiled = compile(source, dotAll);
  const size = compiled.programSize();
  if (size > largestPattern) throw refused(source, "it repeats too much");
  const check = (text: string): void => {
    if (size * text.length <= mostWork) return;
    const message = `a text of ${text.length} characters is too long for the pattern ${shown(source)}`;
    throw new TuttiError("too_large", message);
  };
  return {
    size,
    test(text) {
      check(text);
      return compiled.test(text);
    },
    exec(text) {
      check(text);
      const matcher = compiled.matcher(text);
      if (!matcher.find()) return undefined;
      return Array.from({ length: matcher.groupCount() + 1 }, (_, group) => matcher.group(group) ?? "");
    },
  };
}

function compile(source: string, dotAll: boolean): RE2JS {
  const re2 = loadEngine();
  try {
    return re2.compile(re2.translateRegExp(source), dotAll ? re2.DOTALL : 0);
  } catch (cause) {
    const said = cause instanceof Error ? cause.message.replace("error parsing regexp: ", "") : String(cause);
    throw refused(source, said, cause);
  }
}

/** Why a pattern is refused before it is compiled; undefined when it may be tried. */
function unsupportedIn(source: string): string | undefined {
  if (source.length > longestPattern) return `it is longer than ${longestPattern} characters`;
  const plain = withoutEscapesAndSets(source);
  if (/\(\?(?:[=!]|<[=!])/.test(plain)) return "lookahead and lookbehind are not supported";
  if (/\\(?:[1-9]|k<)/.test(plain)) return "backreferences are not supported";
  let repeats = 0;
  for (const [, least = "0", most = ""] of plain.matchAll(/\{(\d{1,9})(?:,(\d{0,9}))?\}/g)) {
    repeats += Math.max(Number(least), Number(most));
  }
  return repeats * source.length > mostWrittenOut ? "it repeats too much" : undefined;
}

/** What is left can be looked at for constructs: sets are gone, and of escapes only backreferences are there. */
function withoutEscapesAndSets(source: string): string {
  return source.replaceAll(/\\(?:[1-9]|k<)|\\.|\[(?:\\.|[^\\\]])*\]/gs, (found) =>
    /^\\(?:[1-9]|k<)$/.test(found) ? found : "_",
  );
}

function refused(source: string, why: string, cause?: unknown): TuttiError {
  return new TuttiError("invalid_input", `the pattern ${shown(source)} cannot be used: ${why}`, { cause });
}

function shown(source: string): string {
  return JSON.stringify(source.length > 80 ? `${source.slice(0, 80)}…` : source);
}
