// Reads a size such as 500M or 10G.
import { TuttiError } from "../protocol/error.ts";

const units: Readonly<Record<string, number>> = { "": 1, k: 1_024, m: 1_048_576, g: 1_073_741_824, t: 2 ** 40 };

/** In bytes. */
export function parseSize(text: string): number {
  const found = /^(\d+(?:\.\d+)?)\s*([kmgt]?)i?b?$/.exec(text.trim().toLowerCase());
  if (found === null)
    throw new TuttiError("usage", `${text} is not a size; write a number and k, M, G or T, such as 500M`);
  return Math.floor(Number(found[1]) * (units[found[2] ?? ""] ?? 0));
}
