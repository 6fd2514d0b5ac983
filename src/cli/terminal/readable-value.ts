// Arguments and results as people read them: names with their values, and text with its own lines instead of escapes.

/** In characters: a short value stands in the line of its name. */
const shortLine = 72;
const deepest = 6;

/** Text that is JSON of an object or a list is read first, since escapes are for programs. */
export function readableLines(value: unknown): string[] {
  const read = typeof value === "string" ? jsonIn(value) : value;
  if (typeof read === "string") return textLines(read);
  const short = inOneLine(read);
  return short !== undefined && short.length <= shortLine ? [short] : linesOf(read, 0);
}

/** `path: a.ts, limit: 3`; undefined when it takes several lines. */
export function inOneLine(value: unknown): string | undefined {
  if (typeof value === "string") return value.includes("\n") ? undefined : value;
  if (typeof value !== "object" || value === null) return String(JSON.stringify(value));
  const parts = entriesOf(value).map(([name, each]) => {
    if (typeof each === "object" && each !== null) return undefined;
    const text = inOneLine(each);
    return text === undefined ? undefined : `${Array.isArray(value) ? "" : name}${text}`;
  });
  if (parts.length === 0) return Array.isArray(value) ? "[]" : "{}";
  return parts.includes(undefined) ? undefined : parts.join(", ");
}

function linesOf(value: unknown, depth: number): string[] {
  if (typeof value === "string") return textLines(value);
  if (typeof value !== "object" || value === null || depth > deepest) return [String(JSON.stringify(value))];
  return entriesOf(value).flatMap(([name, each]) => {
    const short = inOneLine(each);
    const isPlain = typeof each !== "object" || each === null;
    if (short !== undefined && (isPlain || short.length <= shortLine)) return [`${name}${short}`.trimEnd()];
    return [name.trimEnd(), ...linesOf(each, depth + 1).map((line) => `  ${line}`)];
  });
}

/** A list has dashes in place of names. */
function entriesOf(value: object): [name: string, value: unknown][] {
  if (Array.isArray(value)) return value.map((each): [string, unknown] => ["- ", each]);
  return Object.entries(value).map(([name, each]) => [`${name}: `, each]);
}

function textLines(text: string): string[] {
  return text.replaceAll("\r\n", "\n").replace(/\n+$/, "").split("\n");
}

function jsonIn(text: string): unknown {
  if (!/^\s*[[{]/.test(text)) return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
