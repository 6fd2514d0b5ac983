// The words that classify a handoff, and the two ways to search for them.

import { asciiLower } from "./text.ts";

export interface WordList {
  /** The words of the list that the text holds, in the order of the list; undefined if there is none. */
  readonly find: (text: string) => string[] | undefined;
}

export interface Words {
  readonly risk: WordList;
  readonly riskInRefs: WordList;
  readonly contradiction: WordList;
  readonly ambiguity: WordList;
  readonly router: WordList;
  readonly info: WordList;
  readonly build: WordList;
  /** Separates two fields that are searched as one text. */
  readonly between: string;
  /** Whether a text contains the left side of a rule, both in lower case; no text contains an empty one. */
  readonly matcher: (left: string) => (text: string) => boolean;
}

const lists = {
  risk: ["security", "privacy", "migration", "incident", "data loss", "data-loss", "reliability", "production"],
  riskInRefs: ["security", "privacy"],
  contradiction: ["contradictory", "conflict", "inconsistent", "mismatch"],
  ambiguity: ["ambiguous", "ambiguity", "underdetermined", "unclear"],
  router: [
    "architectural",
    "architectural_decision",
    "triage",
    "tradeoff",
    "ambiguous",
    "ambiguity",
    "security",
    "privacy",
    "migration",
    "incident",
    "reliability",
  ],
  info: [
    "research",
    "information",
    "information_gathering",
    "docs",
    "api",
    "contract",
    "comparison",
    "search",
    "options",
    "lookup",
    "investigate",
  ],
  build: [
    "code",
    "code_change",
    "implementation",
    "refactor",
    "tests",
    "test",
    "debug",
    "debugging",
    "execution",
    "implement",
    "build",
  ],
} as const;

/** Finds words anywhere: inside other words ("test" in "latest") and across two neighbouring fields. */
export const substringWords = wordsBy(substringList, " ", (left) => (text) => text.includes(left));

/**
 * Finds whole words and their plurals ("tests", "conflicts"). `_` and `-` end a word as a space does, so `security_review`
 * contains "security". They may also join the parts of a phrase, which cannot span two fields. The left side of a rule is
 * searched for without its plural.
 */
export const boundaryWords = wordsBy(boundaryList, "\n", (left) => {
  const whole = wholeWord(left, "");
  return (text) => whole.test(text);
});

function wordsBy(list: (words: readonly string[]) => WordList, between: string, matcher: Words["matcher"]): Words {
  return {
    risk: list(lists.risk),
    riskInRefs: list(lists.riskInRefs),
    contradiction: list(lists.contradiction),
    ambiguity: list(lists.ambiguity),
    router: list(lists.router),
    info: list(lists.info),
    build: list(lists.build),
    between,
    matcher: (left) => (left === "" ? () => false : matcher(left)),
  };
}

function substringList(words: readonly string[]): WordList {
  // Without the u flag, i folds no other letter into ASCII: this is ASCII case folding for ASCII words.
  const any = new RegExp(words.join("|"), "i");
  return {
    find: (text) => {
      if (!any.test(text)) return undefined;
      const lower = asciiLower(text);
      return words.filter((word) => lower.includes(word));
    },
  };
}

function boundaryList(words: readonly string[]): WordList {
  // Most texts contain none of the words; without word boundaries that is found out much faster.
  const near = new RegExp(words.map(joinedAnyWay).join("|"));
  // Made when first needed: compiling these patterns takes longer than routing most handoffs.
  let each: { word: string; whole: RegExp }[] | undefined;
  return {
    find: (text) => {
      const lower = asciiLower(text);
      if (!near.test(lower)) return undefined;
      each ??= words.map((word) => ({ word, whole: wholeWord(word, "(?:e?s)?") }));
      const found = each.filter(({ whole }) => whole.test(lower)).map(({ word }) => word);
      return found.length === 0 ? undefined : found;
    },
  };
}

function wholeWord(phrase: string, plural: string): RegExp {
  const before = /^[\p{L}\p{N}]/u.test(phrase) ? String.raw`(?<![\p{L}\p{N}])` : "";
  const after = /[\p{L}\p{N}]$/u.test(phrase) ? String.raw`${plural}(?![\p{L}\p{N}])` : "";
  return new RegExp(before + joinedAnyWay(phrase) + after, "u");
}

function joinedAnyWay(phrase: string): string {
  const parts = phrase.split(/[ _-]+/).map((part) => part.replaceAll(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`));
  // At the ends one separator says as much as several, and looking for several takes the square of a long row of them.
  const inner = parts.filter((part) => part !== "").join("[ _-]+");
  if (inner === "") return "[ _-]";
  return `${parts[0] === "" ? "[ _-]" : ""}${inner}${parts.at(-1) === "" ? "[ _-]" : ""}`;
}
