// Takes a source text apart into its strings, its imports and the code without both, leaving comments out.

export interface SourceString {
  readonly text: string;
  /** The code directly before it, without spaces at its end. */
  readonly before: string;
  /** What is between it and the string before it, without spaces. */
  readonly gap: string;
  /** It goes on with a value that is not known. */
  readonly isOpen: boolean;
}

export interface SourceText {
  readonly strings: readonly SourceString[];
  /** Every string is left out. */
  readonly code: string;
}

export type CommentStyle = "slashes" | "hash";

const beforeLength = 40;

/** One pass over the text. A quote that is not closed ends with its line. */
export function sourceText(text: string, style: CommentStyle): SourceText {
  const strings: SourceString[] = [];
  const code: string[] = [];
  let recent = "";
  let gap = "";
  const keep = (part: string): void => {
    code.push(part);
    recent = (recent + part).slice(-beforeLength * 2);
    gap = gap.length > 20 ? gap : gap + part.trim();
  };
  const add = (found: string, isOpen: boolean): void => {
    strings.push({ text: found, before: recent.trimEnd().slice(-beforeLength), gap, isOpen });
    keep('""');
    gap = "";
  };
  const pattern =
    style === "slashes"
      ? /\/\/[^\n]*|\/\*[^]*?(?:\*\/|$)|"(?:\\.|[^"\\\n])*"?|'(?:\\.|[^'\\\n])*'?|`(?:\\[^]|[^`\\])*`?|\/|[^"'`/]+/g
      : /#[^\n]*|"""[^]*?(?:"""|$)|'''[^]*?(?:'''|$)|"(?:\\.|[^"\\\n])*"?|'(?:\\.|[^'\\\n])*'?|[^"'#]+/g;
  for (let found = pattern.exec(text); found !== null; found = pattern.exec(text)) {
    const part = found[0];
    if (style === "slashes" && part === "/") {
      const end = regexEnd(text, found.index, recent);
      if (end === undefined) keep(part);
      else {
        keep(" ");
        pattern.lastIndex = end;
      }
      continue;
    }
    const first = part[0];
    if (part.startsWith("//") || part.startsWith("/*") || (style === "hash" && first === "#")) {
      keep(part.includes("\n") ? "\n" : " ");
      continue;
    }
    if (first === "`" && style === "slashes") {
      for (const [index, piece] of templatePieces(
        part.slice(1, part.endsWith("`") && part.length > 1 ? -1 : undefined),
      ).entries())
        add(piece.text, piece.isOpen || index > 0);
      continue;
    }
    if (first === '"' || first === "'") {
      const width = style === "hash" && (part.startsWith('"""') || part.startsWith("'''")) ? 3 : 1;
      const quote = part.slice(0, width);
      const isClosed = part.length >= 2 * width && part.endsWith(quote);
      const inner = part.slice(width, isClosed ? -width : undefined);
      // A value in braces or after a percent sign is not known, where the language has such a thing.
      const open = style === "hash" ? inner.search(/\{\w*\}|\{[\w.]+|%[sd(]/) : -1;
      add(unescaped(open === -1 ? inner : inner.slice(0, open)), open !== -1);
      continue;
    }
    keep(part);
  }
  return { strings, code: code.join("") };
}

/** Where a regular expression ends that begins here; undefined when it is a division. */
function regexEnd(text: string, at: number, recent: string): number | undefined {
  if (!/(?:^|[(,=:[!&|?{};\n]|=>|\breturn|\bcase|\btypeof)\s*$/.test(recent)) return undefined;
  let isClass = false;
  for (let index = at + 1; index < text.length; index += 1) {
    const sign = text[index];
    if (sign === "\n") return undefined;
    if (sign === "\\") index += 1;
    else if (sign === "[") isClass = true;
    else if (sign === "]") isClass = false;
    else if (sign === "/" && !isClass) return index + 1;
  }
  return undefined;
}

function templatePieces(inner: string): { readonly text: string; readonly isOpen: boolean }[] {
  const pieces = inner.split(/\$\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\}/);
  return pieces.map((piece, index) => ({ text: unescaped(piece), isOpen: index < pieces.length - 1 }));
}

function unescaped(text: string): string {
  return text.includes("\\")
    ? text.replaceAll(/\\(.)/g, (_, sign: string) => (sign === "n" || sign === "t" ? " " : sign))
    : text;
}

export interface PathWord {
  readonly text: string;
  /** The rest of the path is not known. */
  readonly isOpen: boolean;
  /** It is one of several words of a text, so it may not be meant as a path. */
  readonly isLoose: boolean;
  /** Words with the same number are parts of one path, and the longest of them comes last. */
  readonly run: number;
}

const mostWords = 60;

/** Everything in the strings that may be a path: each as a whole, several that are joined, and the words of a command. */
export function pathWords(strings: readonly SourceString[]): PathWord[] {
  const words: PathWord[] = [];
  let run = "";
  let number = 0;
  for (const { text, gap, isOpen } of strings) {
    const isJoined = run !== "" && (gap === "," || gap === "/" || gap === "+" || gap === ")/");
    run = isJoined ? `${run}${gap === "+" ? "" : "/"}${text}` : text;
    if (!isJoined) number += 1;
    if (run.length > 400 || run.includes("\n")) run = "";
    if (isJoined && run !== "") words.push({ text: run, isOpen, isLoose: false, run: number });
    const trimmed = text.trim();
    if (trimmed === "") continue;
    if (!/\s/.test(trimmed)) {
      // What follows a value that is not known, such as `${folder}/a.txt`, begins with a slash.
      words.push({ text: trimmed.replace(/^\/+/, ""), isOpen, isLoose: false, run: number });
      continue;
    }
    for (const word of trimmed.split(/[\s"'`(),;|&<>=]+/).slice(0, mostWords)) {
      const bare = word.replace(/[.:!?]+$/, "");
      if (bare !== "") words.push({ text: bare, isOpen: false, isLoose: true, run: number });
    }
  }
  return words;
}
