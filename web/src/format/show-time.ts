// Times, durations, money and counts in the few characters that a page has for them.

const [second, minute, hour, day] = [1_000, 60_000, 3_600_000, 86_400_000];

/** "3 min ago", "in 2 h", "just now". The exact time is shown when the pointer rests on it. */
export function relativeTime(at: number, now: number): string {
  const ahead = at > now;
  const distance = Math.abs(now - at);
  if (distance < 5 * second) return ahead ? "in a moment" : "just now";
  const text =
    distance < minute
      ? `${Math.round(distance / second)} s`
      : distance < hour
        ? `${Math.round(distance / minute)} min`
        : distance < 2 * day
          ? `${Math.round(distance / hour)} h`
          : `${Math.round(distance / day)} days`;
  return ahead ? `in ${text}` : `${text} ago`;
}

export function exactTime(at: number): string {
  return new Date(at).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "medium" });
}

/** "850 ms", "4.2 s", "3 min 05 s", "2 h 10 min", "4 h". */
export function duration(ms: number): string {
  if (ms < second) return `${Math.max(0, Math.round(ms))} ms`;
  if (ms < 10 * second) return `${(ms / second).toFixed(1)} s`;
  if (ms < minute) return `${Math.floor(ms / second)} s`;
  if (ms < hour)
    return `${Math.floor(ms / minute)} min ${String(Math.floor((ms % minute) / second)).padStart(2, "0")} s`;
  const minutes = Math.floor((ms % hour) / minute);
  if (ms < 2 * day)
    return `${Math.floor(ms / hour)} h${minutes === 0 ? "" : ` ${String(minutes).padStart(2, "0")} min`}`;
  return `${Math.floor(ms / day)} days`;
}

/** Money comes as millionths of a dollar. */
export function money(micro: number): string {
  const dollars = micro / 1_000_000;
  if (micro === 0) return "$0";
  if (dollars < 0.01) return "<$0.01";
  return dollars < 100 ? `$${dollars.toFixed(2)}` : `$${Math.round(dollars).toLocaleString("en")}`;
}

/** "950", "12.3k", "4.1M". */
export function count(number: number): string {
  if (number < 1_000) return String(number);
  const [scaled, unit] = number < 999_500 ? [number / 1_000, "k"] : [number / 1_000_000, "M"];
  return `${scaled < 99.95 ? scaled.toFixed(1).replace(/\.0$/, "") : Math.round(scaled)}${unit}`;
}

/** "1 task", "3 tasks". */
export function plural(number: number, word: string): string {
  return `${number} ${word}${number === 1 ? "" : "s"}`;
}
