// The ids of Tutti's own records that a text mentions: what must survive when the text itself is shortened.

const mentioned = /\b(?:tsk|ask|gol|evd)_[A-Za-z0-9_][A-Za-z0-9._-]*[A-Za-z0-9]/g;

/** Each once, in the order they come up. */
export function mentionedIds(text: string): string[] {
  return [...new Set([...text.matchAll(mentioned)].map(([id]) => id))];
}
