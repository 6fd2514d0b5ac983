// Looks over a JSON text before it is parsed: how deep and how wide it is, and whether an object names a key twice.

export interface JsonScan {
  /** Why the text should not be parsed at all. */
  readonly problem?: string;
  /** JSON.parse would keep the last of the two in silence. */
  readonly duplicate?: string;
}

/** The parser's cost grows faster than the text with nesting and with keys; within these bounds it is linear. */
const limits = { depth: 100, keys: 100_000 };

/** Objects nested deeper than this are free content, not fields. */
const fieldDepth = 3;

const [quote, backslash, open, close, openList, closeList, comma] = [0x22, 0x5c, 0x7b, 0x7d, 0x5b, 0x5d, 0x2c];

/** Of a text that is not JSON it says nothing that matters, in linear time. */
export function scanJson(json: string): JsonScan {
  /** One entry per open list (undefined) or object: its keys so far, or `free` where they may repeat. */
  const stack: (Set<string> | undefined)[] = [];
  const free = new Set<string>();
  let keys = 0;
  let keyNext = false;
  let duplicate: string | undefined;
  for (let at = 0; at < json.length; at += 1) {
    const code = json.charCodeAt(at);
    if (code === open || code === openList) {
      keyNext = code === open;
      if (!keyNext) stack.push(undefined);
      else stack.push(stack.length < fieldDepth ? new Set() : free);
      if (stack.length > limits.depth) return { problem: `is nested deeper than ${limits.depth} levels` };
    } else if (code === close || code === closeList) {
      stack.pop();
    } else if (code === comma) {
      keyNext = true;
    } else if (code === quote) {
      const end = stringEnd(json, at);
      const siblings = keyNext ? stack.at(-1) : undefined;
      if (siblings !== undefined) keys += 1;
      if (keys > limits.keys) return { problem: `has more than ${limits.keys} keys` };
      if (siblings !== undefined && siblings !== free) {
        const key = keyText(json.slice(at, end + 1));
        if (siblings.has(key)) duplicate ??= key;
        siblings.add(key);
      }
      keyNext = false;
      at = end;
    }
  }
  return duplicate === undefined ? {} : { duplicate };
}

function stringEnd(json: string, start: number): number {
  let at = start + 1;
  while (at < json.length) {
    const code = json.charCodeAt(at);
    if (code === quote) return at;
    at += code === backslash ? 2 : 1;
  }
  return json.length;
}

function keyText(literal: string): string {
  if (!literal.includes("\\")) return literal.slice(1, -1);
  try {
    return String(JSON.parse(literal));
  } catch {
    return literal;
  }
}
