// Figures as people read them: lengths of time, money, sizes, and counts with their noun.

export function duration(ms: number): string {
  if (ms < 1_000) return `${Math.max(0, Math.round(ms))} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`;
  const minutes = Math.floor(ms / 60_000);
  return minutes < 60
    ? `${minutes} min ${Math.floor((ms % 60_000) / 1_000)} s`
    : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** Small amounts keep four digits, or they would all read as $0.00. */
export function money(microUsd: number): string {
  return `$${(microUsd / 1_000_000).toFixed(microUsd < 10_000 ? 4 : 2)}`;
}

/** `counted(2, "task")` is "2 tasks". */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

/** How long ago something was, in the largest unit that fits: "3 min ago". */
export function age(ms: number): string {
  const steps = [
    [86_400_000, "d"],
    [3_600_000, "h"],
    [60_000, "min"],
    [1_000, "s"],
  ] as const;
  const step = steps.find(([unit]) => ms >= unit);
  return step === undefined ? "just now" : `${Math.floor(ms / step[0])} ${step[1]} ago`;
}

/** In the largest unit that fits: "1.5 GiB". */
export function size(bytes: number): string {
  const units = ["bytes", "KiB", "MiB", "GiB", "TiB"];
  const at = bytes < 1_024 ? 0 : Math.min(units.length - 1, Math.floor(Math.log2(bytes) / 10));
  return at === 0 ? `${bytes} bytes` : `${(bytes / 1_024 ** at).toFixed(1)} ${units[at] ?? ""}`;
}

/** A time on the clock of this machine, to the minute: "Mon 2026-11-16 09:00". */
export function localTime(instant: number): string {
  const date = new Date(instant);
  const two = (number: number): string => String(number).padStart(2, "0");
  const day = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"][date.getDay()];
  const written = [date.getFullYear(), two(date.getMonth() + 1), two(date.getDate())].join("-");
  return `${day} ${written} ${two(date.getHours())}:${two(date.getMinutes())}`;
}
