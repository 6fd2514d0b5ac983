// Finds the first of many known texts in a longer one, without reading all of its characters.

interface FoundText {
  readonly start: number;
  readonly end: number;
  /** Which of the texts. */
  readonly index: number;
}

/** The first at or after `from`; the longest, if several begin at the same place. */
export type FindText = (text: string, from: number) => FoundText | undefined;

/** Shorter texts are not searched for. */
export const shortestText = 8;
const block = 3;
const widestWindow = 24;
const tableSize = 1 << 16;

/** The table index of the three characters up to `end`. Others may share it, which only costs a comparison. */
function placeOf(text: string, end: number): number {
  return ((text.charCodeAt(end - 2) << 10) ^ (text.charCodeAt(end - 1) << 5) ^ text.charCodeAt(end)) & (tableSize - 1);
}

/**
 * The algorithm of Wu and Manber. A window as wide as the shortest known text moves over the searched text. The last three
 * characters in the window say how far it can move without missing a known text. Texts that are too short are left out.
 */
export function findTexts(texts: readonly string[]): FindText {
  const lengths = texts.map((text) => text.length).filter((length) => length >= shortestText);
  if (lengths.length === 0) return () => undefined;
  const window = Math.min(widestWindow, ...lengths);
  const farthest = window - block + 1;
  const shifts = new Uint8Array(tableSize).fill(farthest);
  const ending = new Map<number, number[]>();
  texts.forEach((text, index) => {
    if (text.length < shortestText) return;
    for (let end = block - 1; end < window; end += 1) {
      const place = placeOf(text, end);
      shifts[place] = Math.min(shifts[place] ?? farthest, window - 1 - end);
    }
    const place = placeOf(text, window - 1);
    ending.set(place, [...(ending.get(place) ?? []), index]);
  });
  for (const indexes of ending.values()) {
    indexes.sort((one, other) => (texts[other]?.length ?? 0) - (texts[one]?.length ?? 0));
  }

  return (text, from) => {
    const last = text.length - 1;
    let end = from + window - 1;
    while (end <= last) {
      const place = placeOf(text, end);
      const shift = shifts[place] ?? 0;
      if (shift > 0) {
        end += shift;
        continue;
      }
      const start = end - window + 1;
      for (const index of ending.get(place) ?? []) {
        const known = texts[index] ?? "";
        if (text.startsWith(known, start)) return { start, end: start + known.length, index };
      }
      end += 1;
    }
    return undefined;
  };
}
