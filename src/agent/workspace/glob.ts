// Glob patterns over paths (`*`, `?`, `[a-z]`, `{a,b}`, `**`), and the rules of an ignore file, which are such patterns.
import { linearPattern } from "../../linear-pattern.ts";

/** The path has forward slashes and does not begin with one. A pattern without a slash is matched against the last name only. */
export function globMatcher(pattern: string): (path: string) => boolean {
  if (pattern.length > longestPattern) throw new Error(`it is longer than ${longestPattern} characters`);
  const anchored = pattern.includes("/");
  const source = `^(?:${globSource(anchored ? pattern.replace(/^\/+/, "") : pattern)})$`;
  // The time of backtracking grows with every star and every list of alternatives, so only patterns with few are left to it.
  const few = countUpTo(pattern, "*", mostStars) <= mostStars && countUpTo(pattern, "{", mostLists) <= mostLists;
  const regex = few ? new RegExp(source, "su") : linearPattern(source, { dotAll: true });
  return (path) => regex.test(anchored ? path : path.slice(path.lastIndexOf("/") + 1));
}

const longestPattern = 500;
/** As in `src/**\/*.ts`. */
const mostStars = 3;
/** As in `*.{ts,js}`. */
const mostLists = 1;

/** How often the character occurs; it is not counted further than one beyond `most`. */
function countUpTo(text: string, character: string, most: number): number {
  return text.split(character, most + 2).length - 1;
}

function globSource(pattern: string): string {
  let source = "";
  let depth = 0;
  for (let at = 0; at < pattern.length;) {
    const rest = pattern.slice(at);
    const set = /^\[(!|\^)?(\]?[^\]/]*)\]/.exec(rest);
    const character = String.fromCodePoint(rest.codePointAt(0) ?? 0);
    let taken = character.length;
    if (rest.startsWith("**/")) {
      source += "(?:[^/]+/)*";
      taken = 3;
    } else if (rest.startsWith("**")) {
      source += ".*";
      taken = 2;
    } else if (character === "*") {
      source += "[^/]*";
      // Several stars in a row match the same as one, and make matching slow.
      taken = /^\*+/.exec(rest)?.[0].length ?? 1;
    } else if (character === "?") source += "[^/]";
    else if (set !== null && set[2] !== "") {
      source += `[${set[1] === undefined ? "" : "^/"}${setSource(set[2] ?? "")}]`;
      taken = set[0].length;
    } else if (character === "{" && rest.includes("}")) {
      source += "(?:";
      depth += 1;
    } else if (character === "}" && depth > 0) {
      source += ")";
      depth -= 1;
    } else if (character === "," && depth > 0) source += "|";
    else if (character === "\\" && rest.length > 1) {
      const escaped = String.fromCodePoint(rest.codePointAt(1) ?? 0);
      source += literal(escaped);
      taken = 1 + escaped.length;
    } else source += literal(character);
    at += taken;
  }
  return source + ")".repeat(depth);
}

function literal(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`);
}

/** A dash stands for a range only between two characters that are in order. */
function setSource(members: string): string {
  const characters = Array.from(members);
  let source = "";
  for (let at = 0; at < characters.length; at += 1) {
    const [first = "", dash, last] = characters.slice(at, at + 3);
    if (dash === "-" && last !== undefined && first <= last) {
      source += `${inSet(first)}-${inSet(last)}`;
      at += 2;
    } else source += inSet(first);
  }
  return source;
}

function inSet(character: string): string {
  return /[\\\]^[-]/.test(character) ? `\\${character}` : character;
}

interface IgnoreRule {
  readonly negated: boolean;
  readonly foldersOnly: boolean;
  readonly matches: (path: string) => boolean;
}

export interface IgnoreFile {
  /** Whether the file ignores this path, which is relative to the file's folder; undefined when no rule matches. */
  ignores(path: string, isFolder: boolean): boolean | undefined;
}

export function readIgnoreFile(text: string): IgnoreFile {
  const rules = text.split(/\r?\n/).flatMap(ruleOf);
  return {
    ignores: (path, isFolder) => {
      const rule = rules.findLast(({ foldersOnly, matches }) => (isFolder || !foldersOnly) && matches(path));
      return rule === undefined ? undefined : !rule.negated;
    },
  };
}

/** A blank after a backslash stays. */
function withoutBlankEnd(line: string): string {
  const plain = line.trimEnd();
  return plain.endsWith("\\") ? line.slice(0, plain.length + 1) : plain;
}

function ruleOf(line: string): IgnoreRule[] {
  const trimmed = withoutBlankEnd(line);
  if (trimmed === "" || trimmed.startsWith("#")) return [];
  const negated = trimmed.startsWith("!");
  const body = negated ? trimmed.slice(1) : trimmed;
  const foldersOnly = body.endsWith("/");
  const pattern = foldersOnly ? body.slice(0, -1) : body;
  if (pattern === "") return [];
  try {
    return [{ negated, foldersOnly, matches: globMatcher(pattern) }];
  } catch {
    // A pattern that is not valid ignores nothing.
    return [];
  }
}
