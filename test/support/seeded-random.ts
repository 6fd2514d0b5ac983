// Random numbers and choices that can be repeated: the same seed gives the same ones.

export interface Chance {
  /** 0 ≤ n < 1. */
  next(): number;
  /** 0 ≤ n < below. */
  below(below: number): number;
  /** True once in `times`. */
  oneIn(times: number): boolean;
  pick<T>(from: readonly [T, ...T[]]): T;
  /** Undefined when there is nothing to choose from. */
  any<T>(from: readonly T[]): T | undefined;
}

/** mulberry32: small, fast, and good enough for tests. Gives 0 ≤ n < 1. */
export function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

export function chance(seed: number): Chance {
  const next = randomFrom(seed);
  const below = (most: number): number => Math.floor(next() * most);
  return {
    next,
    below,
    oneIn: (times) => below(times) === 0,
    pick: (from) => from[below(from.length)] ?? from[0],
    any: (from) => from[below(from.length)],
  };
}
