// Where a JSON string or number that begins at an offset ends, without building its value.

export function isJsonSpace(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;
}

/**
 * Just past the closing quote of the string literal at `at`. When it does not end before `stop`, or is not JSON (a
 * control character, an unknown escape, an escaped surrogate without its other half): `~` of the place reached.
 */
export function endOfString(text: string, at: number, stop: number): number {
  let i = at + 1;
  while (i < stop) {
    const code = text.charCodeAt(i);
    if (code === 0x22) return i + 1;
    if (code < 0x20) return ~i;
    if (code !== 0x5c) {
      i += 1;
      continue;
    }
    const end = endOfEscape(text, i);
    if (end === i) return ~i;
    i = end;
  }
  return ~stop;
}

const simpleEscapes = '"\\/bfnrt';

/** Just past the escape whose backslash is at `at`, a surrogate pair taken whole; `at` itself when it is not one. */
function endOfEscape(text: string, at: number): number {
  const letter = text.charAt(at + 1);
  if (letter !== "" && simpleEscapes.includes(letter)) return at + 2;
  const first = unicodeEscape(text, at);
  if (first === -1 || (first >= 0xdc00 && first <= 0xdfff)) return at;
  if (first < 0xd800 || first > 0xdbff) return at + 6;
  const second = unicodeEscape(text, at + 6);
  return second >= 0xdc00 && second <= 0xdfff ? at + 12 : at;
}

function unicodeEscape(text: string, at: number): number {
  const hex = text.slice(at + 2, at + 6);
  return text.startsWith("\\u", at) && /^[0-9a-fA-F]{4}$/.test(hex) ? Number.parseInt(hex, 16) : -1;
}

const number = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;

/** Just past the number at `at`; `at` itself when there is none, or none that a double can hold. */
export function endOfNumber(text: string, at: number): number {
  number.lastIndex = at;
  const found = number.exec(text)?.[0];
  return found !== undefined && Number.isFinite(Number(found)) ? at + found.length : at;
}
