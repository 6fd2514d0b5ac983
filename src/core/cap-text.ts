// Cuts a text to a length and says so in the text.

import { wholeAt } from "./preview.ts";

/** At most `most` characters of the text, never half of one, and then how many are missing. */
export function capText(text: string, most: number): string {
  if (text.length <= most) return text;
  const end = wholeAt(text, most);
  return `${text.slice(0, end)} [truncated ${text.length - end} characters]`;
}
