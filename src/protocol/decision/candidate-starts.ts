// Where a decision may begin, best place first: in the first fence, then every top-level pair of braces.

const jsonFence = "```json";
const fence = "```";

/**
 * Offsets of the opening braces to try, in order; the first that reads as a decision wins.
 * An opening brace that is never closed ends the search, as the protocol requires; what follows it is left to recovery.
 */
export function* candidateStarts(text: string): Generator<number> {
  const inner = fencedInner(text);
  if (inner !== null) {
    const first = nextBalanced(text, inner.start, inner.end);
    if (first !== null) yield first.start;
  }
  let from = 0;
  for (;;) {
    const next = nextBalanced(text, from, text.length);
    if (next === null) return;
    yield next.start;
    from = next.end;
  }
}

interface Span {
  readonly start: number;
  readonly end: number;
}

/** The body of the first json fence, else of the first fence; what follows the opener on its line is skipped. */
function fencedInner(text: string): Span | null {
  const tagged = text.indexOf(jsonFence);
  const open = tagged === -1 ? text.indexOf(fence) : tagged;
  if (open === -1) return null;
  const afterOpen = open + (tagged === -1 ? fence.length : jsonFence.length);
  const newline = text.indexOf("\n", afterOpen);
  const start = newline === -1 ? afterOpen : newline + 1;
  const close = text.indexOf(fence, start);
  return { start, end: close === -1 ? text.length : close };
}

/** The next pair of braces that closes before `limit`; braces in string literals do not count. */
function nextBalanced(text: string, from: number, limit: number): Span | null {
  const start = text.indexOf("{", from);
  if (start === -1 || start >= limit) return null;
  let depth = 0;
  let inString = false;
  for (let at = start; at < limit; at += 1) {
    const code = text.charCodeAt(at);
    if (inString) {
      if (code === 0x5c) at += 1;
      else if (code === 0x22) inString = false;
    } else if (code === 0x22) inString = true;
    else if (code === 0x7b) depth += 1;
    else if (code === 0x7d) {
      depth -= 1;
      if (depth === 0) return { start, end: at + 1 };
    }
  }
  return null;
}
