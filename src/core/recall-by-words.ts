// Finds earlier goals and conversations by the words that they contain.

import { capText } from "./cap-text.ts";

export interface Remembered {
  /** Of the goal or the conversation. */
  readonly id: string;
  readonly at: number;
  readonly text: string;
}

export interface Recalled {
  readonly id: string;
  readonly at: number;
  /** The beginning of the text. */
  readonly text: string;
}

const mostRecalled = 6;
const longestText = 600;
/** Shorter words are in every text. */
const shortestWord = 3;

/** Texts with all of the words, or with any of them when none has all; the newest first. */
export function recallByWords(words: string, texts: readonly Remembered[]): Recalled[] {
  const wanted = [...wordsOf(words)];
  if (wanted.length === 0) return [];
  const counted = texts.map((each) => {
    const has = wordsOf(each.text);
    return { each, count: wanted.filter((word) => has.has(word)).length };
  });
  const whole = counted.filter(({ count }) => count === wanted.length);
  const found = whole.length > 0 ? whole : counted.filter(({ count }) => count > 0);
  return found
    .toSorted((a, b) => b.each.at - a.each.at)
    .slice(0, mostRecalled)
    .map(({ each: { id, at, text } }) => ({ id, at, text: capText(text, longestText) }));
}

function wordsOf(text: string): Set<string> {
  const words = text.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? [];
  return new Set(words.filter((word) => word.length >= shortestWord));
}
