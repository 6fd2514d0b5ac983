// An amount of data in the few characters that a page has for it.

const units = ["bytes", "KiB", "MiB", "GiB", "TiB"] as const;

/** "512 bytes", "200 MiB", "1.5 GiB". */
export function bytes(amount: number): string {
  let [scaled, unit] = [amount, 0];
  // Before a number would be shown as 1024, the next unit is taken.
  while (scaled >= 1_023.5 && unit < units.length - 1) {
    scaled /= 1_024;
    unit += 1;
  }
  const number = scaled < 9.95 && unit > 0 ? scaled.toFixed(1).replace(/\.0$/, "") : String(Math.round(scaled));
  return `${number} ${units[unit]}`;
}
