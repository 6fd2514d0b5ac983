// Reads an age such as 30d or 10m.
import { TuttiError } from "../protocol/error.ts";

const units: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };

/** In milliseconds. */
export function parseAge(text: string): number {
  const found = /^(\d+(?:\.\d+)?)\s*([smhdw])$/.exec(text.trim().toLowerCase());
  if (found === null)
    throw new TuttiError("usage", `${text} is not an age; write a number and s, m, h, d or w, such as 30d`);
  return Number(found[1]) * (units[found[2] ?? ""] ?? 0);
}
