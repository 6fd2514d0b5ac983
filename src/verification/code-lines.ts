// Reads added lines as code: without comments, with every string empty and told apart.

import type { AddedLine } from "../core/suspect-lines.ts";

type CodeLanguage = "js" | "python" | "go" | "rust" | "shell";

export interface CodeLine {
  /** The line's place in the list. */
  readonly at: number;
  readonly path: string;
  readonly language: CodeLanguage;
  readonly text: string;
  /** Strings are `""`, comments are gone, and what a template computes is kept. */
  readonly code: string;
  readonly strings: readonly CodeString[];
  /** Names of variables that the added lines of the file set. */
  readonly own: ReadonlySet<string>;
}

interface CodeString {
  readonly value: string;
  /** The code before it in its line. */
  readonly before: string;
}

const languages: readonly (readonly [RegExp, CodeLanguage])[] = [
  [/\.[cm]?[jt]sx?$|\.(?:vue|svelte)$/, "js"],
  [/\.(?:pyi?|pth)$/, "python"],
  [/\.go$/, "go"],
  [/\.rs$/, "rust"],
  [/\.(?:ba|z|k)?sh$/, "shell"],
];

/** The longest line is read in full up to here; the rest of a longer one is data. */
const mostLength = 200_000;

export function codeLines(added: readonly AddedLine[]): CodeLine[] {
  const lines: CodeLine[] = [];
  let open: Open = undefined;
  let before: AddedLine | undefined;
  const own = assignedIn(added);
  for (const [at, line] of added.entries()) {
    const { path, text } = line;
    const language = languages.find(([pattern]) => pattern.test(path))?.[1] ?? scriptOf(added, at);
    if (before?.path !== path || before.line !== line.line - 1) open = undefined;
    before = line;
    if (language === undefined) continue;
    const read = readLine(text.slice(0, mostLength), language, open);
    open = read.open;
    lines.push({ at, path, language, text, code: read.code, strings: read.strings, own: own.get(path) ?? new Set() });
  }
  return lines;
}

/** A script without an ending says in its first line what runs it. */
function scriptOf(added: readonly AddedLine[], at: number): CodeLanguage | undefined {
  const path = added[at]?.path ?? "";
  if (/\.[^/.]+$/.test(path)) return undefined;
  const first = added.find((each) => each.path === path && each.line === 1)?.text ?? "";
  if (!first.startsWith("#!")) return undefined;
  return /python/.test(first)
    ? "python"
    : /node|deno|bun/.test(first)
      ? "js"
      : /sh\b/.test(first)
        ? "shell"
        : undefined;
}

function assignedIn(added: readonly AddedLine[]): Map<string, Set<string>> {
  const own = new Map<string, Set<string>>();
  for (const { path, text } of added) {
    const names = own.get(path) ?? new Set();
    own.set(path, names);
    const pattern =
      /(?:^|[\s;&(])(?:(?:export|local|readonly|declare)\s+)?([A-Z_][A-Z0-9_]*)=|\b(?:read(?:\s+-\w+)*|for)\s+([A-Z_]\w*)/g;
    for (const [, one, other] of text.matchAll(pattern)) names.add(one ?? other ?? "");
  }
  return own;
}

/** What goes on from the line before, a comment or a string, with what ends it. */
type Open = { readonly end: string; readonly holes: RegExp | undefined } | undefined;

interface ReadLine {
  readonly code: string;
  readonly strings: readonly CodeString[];
  readonly open: Open;
}

const quotes: Readonly<Record<CodeLanguage, readonly string[]>> = {
  js: ['"', "'", "`"],
  python: ['"""', "'''", '"', "'"],
  go: ['"', "`"],
  rust: ['"'],
  // A shell looks into its strings.
  shell: [],
};
/** Where strings hold code. */
const inTemplate = /\$\{([^}]*)\}?/g;
const inBraces = /\{([^}]*)\}?/g;

function readLine(text: string, language: CodeLanguage, from: Open): ReadLine {
  const strings: CodeString[] = [];
  const hasSlashes = language === "js" || language === "go" || language === "rust";
  let code = "";
  let open = from;
  let at = 0;
  while (at < text.length) {
    if (open !== undefined) {
      const end = text.indexOf(open.end, at);
      code += codeIn(text.slice(at, end === -1 ? undefined : end), open.holes);
      if (end === -1) return { code, strings, open };
      at = end + open.end.length;
      open = undefined;
      continue;
    }
    if (hasSlashes && text.startsWith("//", at)) break;
    if (hasSlashes && text.startsWith("/*", at)) {
      [open, at] = [{ end: "*/", holes: undefined }, at + 2];
      continue;
    }
    if (!hasSlashes && text[at] === "#" && (at === 0 || /\s/.test(text[at - 1] ?? ""))) break;
    if (language === "js" && text[at] === "/") {
      const end = regexEnd(text, at, code);
      code += end === undefined ? "/" : " ";
      at = end ?? at + 1;
      continue;
    }
    const quote = quotes[language].find((each) => text.startsWith(each, at));
    if (quote === undefined) {
      code += text[at];
      at += 1;
      continue;
    }
    const found = readString(text, at + quote.length, quote);
    const holes = holesOf(language, quote, code);
    strings.push({ value: found.value, before: code });
    // What a template computes is code as any other.
    const inner = codeIn(found.value, holes);
    code += inner === "" ? '""' : `""(${inner})`;
    at = found.end;
    if (found.isClosed) continue;
    if (quote.length === 3 || quote === "`") open = { end: quote, holes };
    // No string ends so: what stands here was not understood, and counts as code.
    else code += found.value;
  }
  return { code, strings, open };
}

function holesOf(language: CodeLanguage, quote: string, before: string): RegExp | undefined {
  if (language === "js") return quote === "`" ? inTemplate : undefined;
  return language === "python" && /(?:^|\W)(?:[ft]r?|r[ft])$/i.test(before) ? inBraces : undefined;
}

function codeIn(text: string, holes: RegExp | undefined): string {
  return holes === undefined ? "" : [...text.matchAll(holes)].map(([, inner = ""]) => inner).join(",");
}

/** Where a regular expression ends that begins here; undefined when it is a division. */
function regexEnd(text: string, at: number, before: string): number | undefined {
  if (!/(?:^|[(,=:[!&|?{};+\-*<>~^%]|\b(?:return|case|typeof|in|of|await|yield|void|delete))\s*$/.test(before))
    return undefined;
  let isClass = false;
  for (let index = at + 1; index < text.length; index += 1) {
    const sign = text[index];
    if (sign === "\\") index += 1;
    else if (sign === "[") isClass = true;
    else if (sign === "]") isClass = false;
    else if (sign === "/" && !isClass) return index + 1;
  }
  return undefined;
}

function readString(
  text: string,
  from: number,
  quote: string,
): { readonly value: string; readonly end: number; readonly isClosed: boolean } {
  let value = "";
  let at = from;
  while (at < text.length) {
    if (text.startsWith(quote, at)) return { value, end: at + quote.length, isClosed: true };
    const length = text[at] === "\\" ? 2 : 1;
    value += text.slice(at, at + length);
    at += length;
  }
  return { value, end: at, isClosed: false };
}
