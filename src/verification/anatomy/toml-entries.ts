// Reads a TOML file as keys with the text of their values, enough to compare two of them part by part.

export interface TomlEntry {
  /** The table's parts and the key's, without quotes; an element of an array of tables has its number. */
  readonly key: readonly string[];
  /** Without comments and needless spaces. */
  readonly value: string;
}

const mostLength = 1024 * 1024;

/** Undefined when the file cannot be read, so that nobody acts on half of it. */
export function tomlEntries(text: string): TomlEntry[] | undefined {
  if (text.length > mostLength) return undefined;
  const entries: TomlEntry[] = [];
  const counts = new Map<string, number>();
  let table: readonly string[] = [];
  let at = 0;
  const skip = (pattern: RegExp): void => {
    pattern.lastIndex = at;
    at += pattern.exec(text)?.[0].length ?? 0;
  };
  const lineEnd = /[ \t]*(?:#[^\n]*)?(?:\r?\n|$)/y;
  while (at < text.length) {
    skip(/(?:[ \t\r\n\uFEFF]|#[^\n]*)*/y);
    if (at >= text.length) break;
    if (text[at] === "[") {
      const isList = text[at + 1] === "[";
      at += isList ? 2 : 1;
      const key = readKey(text, at);
      if (key === undefined) return undefined;
      at = key.end;
      skip(/[ \t]*/y);
      const close = isList ? "]]" : "]";
      if (!text.startsWith(close, at)) return undefined;
      at += close.length;
      const name = JSON.stringify(key.parts);
      const count = counts.get(name) ?? 0;
      if (isList) counts.set(name, count + 1);
      table = isList ? [...key.parts, String(count)] : key.parts;
      entries.push({ key: table, value: "" });
    } else {
      const key = readKey(text, at);
      if (key === undefined) return undefined;
      at = key.end;
      skip(/[ \t]*/y);
      if (text[at] !== "=") return undefined;
      at += 1;
      const value = readValue(text, at);
      if (value === undefined) return undefined;
      entries.push({ key: [...table, ...key.parts], value: value.text });
      at = value.end;
    }
    lineEnd.lastIndex = at;
    const end = lineEnd.exec(text);
    if (end === null) return undefined;
    at += end[0].length;
  }
  return entries;
}

function readKey(text: string, from: number): { readonly parts: string[]; readonly end: number } | undefined {
  const part = /[ \t]*(?:"((?:\\.|[^"\\\n])*)"|'([^'\n]*)'|([A-Za-z0-9_-]+))[ \t]*/y;
  const parts: string[] = [];
  let at = from;
  for (;;) {
    part.lastIndex = at;
    const found = part.exec(text);
    if (found === null) return undefined;
    at += found[0].length;
    parts.push(unquoted(found[1]) ?? found[2] ?? found[3] ?? "");
    if (text[at] !== ".") return { parts, end: at };
    at += 1;
  }
}

function unquoted(inner: string | undefined): string | undefined {
  if (inner === undefined || !inner.includes("\\")) return inner;
  return inner.replaceAll(
    /\\(?:u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(.))/g,
    (_, short?: string, long?: string, sign?: string) => {
      const code = Number.parseInt(short ?? long ?? "0", 16);
      return sign ?? (code <= 0x10ffff ? String.fromCodePoint(code) : "");
    },
  );
}

/** Up to the end of the line, or of the brackets that the value opens. */
function readValue(text: string, from: number): { readonly text: string; readonly end: number } | undefined {
  const token = /"""[^]*?"""+|'''[^]*?'''+|"(?:\\.|[^"\\\n])*"|'[^'\n]*'|#[^\n]*|[[\]{}]|\r?\n|[ \t]+|[^"'#[\]{}\s]+/y;
  let depth = 0;
  let at = from;
  let value = "";
  while (at < text.length) {
    token.lastIndex = at;
    const [found] = token.exec(text) ?? [];
    if (found === undefined) return undefined;
    if (depth === 0 && (found.startsWith("#") || /^\r?\n$/.test(found))) break;
    if (found === "[" || found === "{") depth += 1;
    if (found === "]" || found === "}") depth -= 1;
    if (depth < 0) return undefined;
    if (!found.startsWith("#") && found.trim() !== "") value += found;
    at += found.length;
  }
  return depth === 0 && value !== "" ? { text: value, end: at } : undefined;
}

/** The strings in the text of a value. */
export function tomlStrings(value: string): string[] {
  return [...value.matchAll(/"""([^]*?)"""|'''([^]*?)'''|"((?:\\.|[^"\\\n])*)"|'([^'\n]*)'/g)].map(
    ([, one, two, three, four]) => one ?? two ?? three ?? four ?? "",
  );
}
