// Reads one JSON value as a strict, streaming reader does, for the oracles: it keeps repeated keys, and tells an early end from a fault.

export type Written =
  | null
  | boolean
  | string
  | { readonly number: number; readonly text: string }
  | readonly Written[]
  | { readonly members: readonly (readonly [string, Written])[] };

export type WrittenRead =
  | { readonly ok: true; readonly value: Written; readonly end: number }
  /** `early`: the text ended inside the value. */
  | { readonly ok: false; readonly early: boolean };

class Fault extends Error {
  readonly early: boolean;
  constructor(early: boolean) {
    super(early ? "early end" : "fault");
    this.early = early;
  }
}

/** Containers that may be open at once. */
const deepest = 127;

export function readWritten(text: string, from = 0): WrittenRead {
  let at = from;
  const wrong = (): Fault => new Fault(at >= text.length);
  const space = (): void => {
    while (at < text.length && " \n\r\t".includes(text.charAt(at))) at += 1;
  };
  const take = (wanted: string): void => {
    for (const letter of wanted) {
      if (text.charAt(at) !== letter) throw wrong();
      at += 1;
    }
  };
  const digits = (): void => {
    if (!/[0-9]/.test(text.charAt(at))) throw wrong();
    while (/[0-9]/.test(text.charAt(at))) at += 1;
  };
  const number = (): Written => {
    const start = at;
    if (text.charAt(at) === "-") at += 1;
    if (text.charAt(at) === "0") {
      at += 1;
      if (/[0-9]/.test(text.charAt(at))) throw new Fault(false);
    } else digits();
    if (text.charAt(at) === ".") {
      at += 1;
      digits();
    }
    if (text.charAt(at) === "e" || text.charAt(at) === "E") {
      at += 1;
      if (text.charAt(at) === "+" || text.charAt(at) === "-") at += 1;
      digits();
    }
    const written = text.slice(start, at);
    if (!Number.isFinite(Number(written))) throw new Fault(false);
    return { number: Number(written), text: written };
  };
  const hex = (): number => {
    const start = at;
    for (; at < start + 4; at += 1) if (!/[0-9a-fA-F]/.test(text.charAt(at))) throw wrong();
    return Number.parseInt(text.slice(start, at), 16);
  };
  const escape = (): string => {
    const letter = text.charAt(at);
    const plain: Readonly<Record<string, string>> = {
      '"': '"',
      "\\": "\\",
      "/": "/",
      b: "\b",
      f: "\f",
      n: "\n",
      r: "\r",
      t: "\t",
    };
    const known = plain[letter];
    if (known !== undefined && letter !== "") {
      at += 1;
      return known;
    }
    if (letter !== "u") throw wrong();
    at += 1;
    const first = hex();
    if (first < 0xd800 || first > 0xdfff) return String.fromCharCode(first);
    if (first > 0xdbff) throw new Fault(false);
    take("\\u");
    const second = hex();
    if (second < 0xdc00 || second > 0xdfff) throw new Fault(false);
    return String.fromCharCode(first, second);
  };
  const string = (): string => {
    take('"');
    let value = "";
    for (;;) {
      if (at >= text.length) throw new Fault(true);
      const letter = text.charAt(at);
      if (letter < " ") throw new Fault(false);
      at += 1;
      if (letter === '"') return value;
      value += letter === "\\" ? escape() : letter;
    }
  };
  /** After an item: whether another one follows. */
  const follows = (closer: string): boolean => {
    space();
    if (text.charAt(at) === closer) {
      at += 1;
      return false;
    }
    if (text.charAt(at) !== ",") throw wrong();
    at += 1;
    space();
    if (at >= text.length || text.charAt(at) === closer) throw wrong();
    return true;
  };
  const isEmpty = (closer: string): boolean => {
    at += 1;
    space();
    if (text.charAt(at) !== closer) return false;
    at += 1;
    return true;
  };
  const value = (depth: number): Written => {
    space();
    const letter = text.charAt(at);
    if (letter === '"') return string();
    if (letter === "-" || /[0-9]/.test(letter)) return number();
    if (letter === "t" || letter === "f" || letter === "n") {
      const word = { t: "true", f: "false", n: "null" }[letter];
      take(word);
      return word === "null" ? null : word === "true";
    }
    if (letter !== "{" && letter !== "[") throw wrong();
    if (depth >= deepest) throw new Fault(false);
    if (letter === "[") {
      const items: Written[] = [];
      if (isEmpty("]")) return items;
      do items.push(value(depth + 1));
      while (follows("]"));
      return items;
    }
    const entries: [string, Written][] = [];
    if (isEmpty("}")) return { members: entries };
    do {
      const key = string();
      space();
      take(":");
      entries.push([key, value(depth + 1)]);
    } while (follows("}"));
    return { members: entries };
  };
  try {
    return { ok: true, value: value(0), end: at };
  } catch (thrown) {
    if (thrown instanceof Fault) return { ok: false, early: thrown.early };
    throw thrown;
  }
}

export function entriesOf(value: Written): readonly (readonly [string, Written])[] | undefined {
  return value !== null && typeof value === "object" && "members" in value ? value.members : undefined;
}

/** As plain JavaScript, where the last of several values of a key counts. */
export function plain(value: Written): unknown {
  if (value === null || typeof value !== "object") return value;
  if ("number" in value) return value.number;
  if ("members" in value) return Object.fromEntries(value.members.map(([key, item]) => [key, plain(item)]));
  return value.map(plain);
}

/** Whether the value or anything in it is so. */
export function someIn(value: Written, is: (value: Written) => boolean): boolean {
  if (is(value)) return true;
  if (value === null || typeof value !== "object" || "number" in value) return false;
  const items = "members" in value ? value.members.map(([, item]) => item) : value;
  return items.some((item) => someIn(item, is));
}

/** White space of Unicode, which is not what JavaScript trims. */
const blank = /^[\t-\r \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]$/;

export function trimBlank(text: string): string {
  let [from, to] = [0, text.length];
  while (from < to && blank.test(text.charAt(from))) from += 1;
  while (to > from && blank.test(text.charAt(to - 1))) to -= 1;
  return text.slice(from, to);
}
