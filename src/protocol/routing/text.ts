// Text as the routing rules see it: white space by the Unicode property, letters folded in ASCII alone.

import { isSpace } from "../white-space.ts";

export function isBlank(text: string): boolean {
  for (let at = 0; at < text.length; at += 1) {
    if (!isSpace(text.charCodeAt(at))) return false;
  }
  return true;
}

export function asciiLower(text: string): string {
  // On ASCII text the result is the same, and toLowerCase is faster.
  if (!/[\u0080-\uffff]/.test(text)) return text.toLowerCase();
  const pieces: string[] = [];
  for (let start = 0; start < text.length; start += piece) {
    const codes: number[] = [];
    for (let at = start; at < Math.min(start + piece, text.length); at += 1) {
      const code = text.charCodeAt(at);
      codes.push(code >= 0x41 && code <= 0x5a ? code + 0x20 : code);
    }
    pieces.push(String.fromCharCode(...codes));
  }
  return pieces.join("");
}

/** The number of arguments that is safe in one call. */
const piece = 4096;
