// Unicode White_Space by code unit: unlike String.trim it keeps U+FEFF and takes U+0085.

export function isSpace(code: number): boolean {
  if (code <= 0x20) return code === 0x20 || (code >= 0x09 && code <= 0x0d);
  if (code < 0x85) return false;
  return (
    code === 0x85 ||
    code === 0xa0 ||
    code === 0x1680 ||
    (code >= 0x2000 && code <= 0x200a) ||
    code === 0x2028 ||
    code === 0x2029 ||
    code === 0x202f ||
    code === 0x205f ||
    code === 0x3000
  );
}

/** First position in [from, to) that is not blank, or `to`. */
export function skipSpace(text: string, from: number, to: number): number {
  let at = from;
  while (at < to && isSpace(text.charCodeAt(at))) at += 1;
  return at;
}

/** Position after the last non-blank in [from, to), or `from`. */
export function trimmedEnd(text: string, from: number, to: number): number {
  let at = to;
  while (at > from && isSpace(text.charCodeAt(at - 1))) at -= 1;
  return at;
}

export function trimSpace(text: string): string {
  const from = skipSpace(text, 0, text.length);
  return text.slice(from, trimmedEnd(text, from, text.length));
}
