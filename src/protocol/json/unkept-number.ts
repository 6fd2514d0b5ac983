// Finds the number in a JSON text that JavaScript cannot hold, so that it can be named instead of being changed.

const [quote, backslash] = [0x22, 0x5c];
const longestShown = 40;

/** The first number that is out of range, or an integer whose digits would change. The text must be JSON. Linear. */
export function unkeptNumber(text: string): string | undefined {
  let inString = false;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (inString) {
      if (code === backslash) at += 1;
      else if (code === quote) inString = false;
      continue;
    }
    if (code === quote) inString = true;
    if (code !== 0x2d && !isDigit(code)) continue;
    const start = at;
    while (at < text.length && isOfNumber(text.charCodeAt(at))) at += 1;
    const number = text.slice(start, at);
    if (!isKept(number)) return number.length <= longestShown ? number : `${number.slice(0, longestShown)}…`;
    at -= 1;
  }
  return undefined;
}

/** An integer from 2^53 on is kept if it is held exactly, or is written again with the same digits. */
function isKept(number: string): boolean {
  const value = Number(number);
  if (!Number.isFinite(value)) return false;
  if (Number.isSafeInteger(value) || !/^-?\d+$/.test(number)) return true;
  return String(value) === number || BigInt(number) === BigInt(value);
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}

/** Digits, a sign, a point or an exponent. */
function isOfNumber(code: number): boolean {
  return isDigit(code) || code === 0x2d || code === 0x2b || code === 0x2e || code === 0x65 || code === 0x45;
}
