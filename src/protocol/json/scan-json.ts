// A JSON validator that says where one value ends, or where and why it fails; used when JSON.parse cannot tell.

export type JsonScan =
  | {
      readonly ok: true;
      readonly end: number;
      /** Position of the first integer a double cannot hold, or -1. */
      readonly inexactAt: number;
    }
  | {
      readonly ok: false;
      /** The text ended inside the value, as opposed to holding something wrong. */
      readonly eof: boolean;
      readonly at: number;
      readonly reason: string;
    };

/** Containers may nest this deep, the outermost included. */
export const maxDepth = 127;

interface Fault {
  readonly eof: boolean;
  readonly at: number;
  readonly reason: string;
}

const quote = 0x22;
const backslash = 0x5c;

/** Whether the container at each depth is an object. Scratch space of scanJson, which never runs inside itself. */
const isObject = new Uint8Array(maxDepth + 1);

/** Reads the value that begins at or after `from`; never looks at or past `to`. Linear in the value. */
export function scanJson(text: string, from: number, to: number): JsonScan {
  let depth = 0;
  let inexactAt = -1;
  let at = from;
  let fault: Fault | undefined;

  const fail = (reason: string, position = at): JsonScan => ({ ok: false, eof: position >= to, at: position, reason });

  for (;;) {
    at = skipJsonSpace(text, at, to);
    if (at >= to) return fail("the text ends where a value should stand");
    const code = text.charCodeAt(at);
    let opened = false;
    if (code === 0x7b || code === 0x5b) {
      depth += 1;
      if (depth > maxDepth) return fail(`it nests more than ${maxDepth} levels deep`);
      isObject[depth] = code === 0x7b ? 1 : 0;
      at = skipJsonSpace(text, at + 1, to);
      if (at >= to) return fail("the text ends inside a container");
      opened = text.charCodeAt(at) !== (code === 0x7b ? 0x7d : 0x5d);
      if (!opened) {
        at += 1;
        depth -= 1;
      }
    } else if (code === quote) {
      const end = scanString(text, at, to);
      if (typeof end !== "number") return { ok: false, ...end };
      at = end;
    } else if (code === 0x2d || isDigit(code)) {
      const start = at;
      const end = scanNumber(text, at, to);
      if (typeof end !== "number") return { ok: false, ...end };
      at = end;
      const verdict = judgeNumber(text, start, end);
      if (verdict === "out_of_range") return { ok: false, eof: false, at: start, reason: "a number is out of range" };
      if (verdict === "inexact" && inexactAt === -1) inexactAt = start;
    } else {
      fault = scanWord(text, at, to);
      if (fault !== undefined) return { ok: false, ...fault };
      at += code === 0x66 ? 5 : 4;
    }

    // After a value: close what is complete, then stand before the next value.
    while (!opened) {
      if (depth === 0) return { ok: true, end: at, inexactAt };
      at = skipJsonSpace(text, at, to);
      if (at >= to) return fail("the text ends inside a container");
      const next = text.charCodeAt(at);
      const closer = isObject[depth] === 1 ? 0x7d : 0x5d;
      if (next === 0x2c) {
        at = skipJsonSpace(text, at + 1, to);
        if (at >= to) return fail("the text ends after a comma");
        if (text.charCodeAt(at) === closer) return fail("a comma stands before the closing bracket");
        opened = true;
      } else if (next === closer) {
        at += 1;
        depth -= 1;
      } else {
        return fail(`expected \`,\` or \`${String.fromCharCode(closer)}\``);
      }
    }

    if (isObject[depth] === 1) {
      if (text.charCodeAt(at) !== quote) return fail("expected a key in double quotes");
      const end = scanString(text, at, to);
      if (typeof end !== "number") return { ok: false, ...end };
      at = skipJsonSpace(text, end, to);
      if (at >= to) return fail("the text ends after a key");
      if (text.charCodeAt(at) !== 0x3a) return fail("expected `:` after a key");
      at += 1;
    }
  }
}

function skipJsonSpace(text: string, from: number, to: number): number {
  let at = from;
  while (at < to) {
    const code = text.charCodeAt(at);
    if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) break;
    at += 1;
  }
  return at;
}

function scanString(text: string, from: number, to: number): number | Fault {
  const ended: Fault = { eof: true, at: to, reason: "the text ends inside a string" };
  let at = from + 1;
  while (at < to) {
    const code = text.charCodeAt(at);
    if (code === quote) return at + 1;
    if (code < 0x20) {
      const name = code === 0x0a ? "line break" : code === 0x09 ? "tab" : "control character";
      return { eof: false, at, reason: `a raw ${name} stands inside a string` };
    }
    if (code === backslash) {
      if (at + 1 >= to) return ended;
      const escape = text[at + 1] ?? "";
      if (escape === "u") {
        const end = scanUnicodeEscape(text, at, to);
        if (typeof end !== "number") return end;
        at = end;
      } else if ('"\\/bfnrt'.includes(escape)) {
        at += 2;
      } else {
        return { eof: false, at, reason: `\`\\${escape}\` is not an escape of JSON` };
      }
    } else if (code >= 0xd800 && code <= 0xdfff) {
      const paired = code < 0xdc00 && at + 1 < to && isLowSurrogate(text.charCodeAt(at + 1));
      if (!paired) return { eof: false, at, reason: "a string holds half of a surrogate pair" };
      at += 2;
    } else {
      at += 1;
    }
  }
  return ended;
}

/** `at` is on the backslash of `\u`; a high surrogate takes its low half along. */
function scanUnicodeEscape(text: string, at: number, to: number): number | Fault {
  const high = readHex(text, at + 2, to);
  if (typeof high !== "number") return high;
  if (high < 0xd800 || high > 0xdfff) return at + 6;
  const lone: Fault = { eof: false, at, reason: "an escape names half of a surrogate pair" };
  if (high >= 0xdc00) return lone;
  if (at + 6 >= to) return { eof: true, at: to, reason: "the text ends inside a string" };
  if (text.charCodeAt(at + 6) !== backslash) return lone;
  if (at + 7 >= to) return { eof: true, at: to, reason: "the text ends inside a string" };
  if (text[at + 7] !== "u") return lone;
  const low = readHex(text, at + 8, to);
  if (typeof low !== "number") return low;
  return isLowSurrogate(low) ? at + 12 : lone;
}

function readHex(text: string, from: number, to: number): number | Fault {
  let value = 0;
  for (let at = from; at < from + 4; at += 1) {
    if (at >= to) return { eof: true, at: to, reason: "the text ends inside a string" };
    const digit = Number.parseInt(text[at] ?? "", 16);
    if (Number.isNaN(digit)) return { eof: false, at, reason: "`\\u` must be followed by four hex digits" };
    value = value * 16 + digit;
  }
  return value;
}

function isLowSurrogate(code: number): boolean {
  return code >= 0xdc00 && code <= 0xdfff;
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}

function scanNumber(text: string, from: number, to: number): number | Fault {
  let at = from;
  const digits = (): Fault | undefined => {
    if (at >= to) return { eof: true, at: to, reason: "the text ends inside a number" };
    if (!isDigit(text.charCodeAt(at))) return { eof: false, at, reason: "a number lacks a digit" };
    while (at < to && isDigit(text.charCodeAt(at))) at += 1;
    return undefined;
  };
  if (text.charCodeAt(at) === 0x2d) at += 1;
  const zero = at < to && text.charCodeAt(at) === 0x30;
  let fault: Fault | undefined;
  if (zero) {
    at += 1;
    if (at < to && isDigit(text.charCodeAt(at))) return { eof: false, at, reason: "a number begins with 0" };
  } else {
    fault = digits();
    if (fault !== undefined) return fault;
  }
  if (at < to && text.charCodeAt(at) === 0x2e) {
    at += 1;
    fault = digits();
    if (fault !== undefined) return fault;
  }
  if (at < to && (text.charCodeAt(at) | 0x20) === 0x65) {
    at += 1;
    if (at < to && (text.charCodeAt(at) === 0x2b || text.charCodeAt(at) === 0x2d)) at += 1;
    fault = digits();
    if (fault !== undefined) return fault;
  }
  return at;
}

/** Past 309 digits a number is out of range anyway, so the exact comparison stays cheap. */
function judgeNumber(text: string, from: number, to: number): "fine" | "inexact" | "out_of_range" {
  if (to - from < 16) {
    // Only an exponent can take so short a token out of range.
    const short = text.slice(from, to);
    return Number.isFinite(Number(short)) ? "fine" : "out_of_range";
  }
  const token = text.slice(from, to);
  const value = Number(token);
  if (!Number.isFinite(value)) return "out_of_range";
  if (!/^-?\d+$/.test(token)) return "fine";
  return BigInt(token) === BigInt(value) ? "fine" : "inexact";
}

function scanWord(text: string, from: number, to: number): Fault | undefined {
  const code = text.charCodeAt(from);
  const word = code === 0x74 ? "true" : code === 0x66 ? "false" : code === 0x6e ? "null" : undefined;
  if (word === undefined) return { eof: false, at: from, reason: "expected a value" };
  for (let index = 1; index < word.length; index += 1) {
    if (from + index >= to) return { eof: true, at: to, reason: "the text ends inside a word" };
    if (text[from + index] !== word[index]) return { eof: false, at: from, reason: "expected a value" };
  }
  return undefined;
}
