// The ids of Tutti's own records that a text mentions. They are kept when the text itself is shortened.

const mentioned = /\b(?:tsk|ask|gol|evd)_[A-Za-z0-9_][A-Za-z0-9._-]*[A-Za-z0-9]/g;

/** Each id once, in the order of first mention. */
export function mentionedIds(text: string): string[] {
  return [...new Set([...text.matchAll(mentioned)].map(([id]) => id))];
}
