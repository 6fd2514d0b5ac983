// The end of an axis: a round number that is not below the largest value.

/** 1, 2, 5 or 10 times a power of ten; 1 when there is nothing to show. */
export function niceTop(largest: number): number {
  if (!(largest > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(largest));
  return ([1, 2, 5].find((factor) => factor * power >= largest) ?? 10) * power;
}
