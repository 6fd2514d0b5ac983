// Splits a definition into front matter and body, and reads the front matter as YAML with the line of every field.

import { type Document, isMap, isNode, isScalar, LineCounter, parseDocument, visit } from "yaml";

import { unkeptNumber } from "../../protocol/json/unkept-number.ts";

export interface FrontMatter {
  /** Plain data without cycles, since YAML aliases are refused. */
  readonly fields: Readonly<Record<string, unknown>>;
  /** The line of a field in the file, or of the nearest field around it that has one. */
  readonly lineOf: (path: readonly PropertyKey[]) => number;
  readonly warnings: readonly { readonly line: number; readonly message: string }[];
}

type Split =
  | { readonly kind: "none" }
  | { readonly kind: "open" }
  | { readonly kind: "whole"; readonly yaml: string; readonly body: string; readonly bodyLine: number };

export type FrontMatterReading =
  | { readonly ok: true; readonly front: FrontMatter }
  | { readonly ok: false; readonly line: number; readonly message: string };

const fence = /^---[ \t]*\r?$/;
/** The front matter begins below the opening fence. */
const firstLine = 2;

/** The body is everything below the closing fence, unchanged; a later fence belongs to the body. */
export function splitFrontMatter(text: string): Split {
  const start = text.startsWith("\uFEFF") ? 1 : 0;
  const opening = lineAt(text, start);
  if (!fence.test(opening.text)) return { kind: "none" };
  let line = firstLine;
  for (let from = opening.next; from < text.length; line += 1) {
    const current = lineAt(text, from);
    if (fence.test(current.text)) {
      return {
        kind: "whole",
        yaml: text.slice(opening.next, from),
        body: text.slice(current.next),
        bodyLine: line + 1,
      };
    }
    from = current.next;
  }
  return { kind: "open" };
}

function lineAt(text: string, from: number): { readonly text: string; readonly next: number } {
  const end = text.indexOf("\n", from);
  return end === -1 ? { text: text.slice(from), next: text.length } : { text: text.slice(from, end), next: end + 1 };
}

/** Never throws. Values that are valid YAML only when quoted are quoted, with a warning. */
export function readFrontMatter(yaml: string): FrontMatterReading {
  const first = parse(yaml);
  const firstError = first.document.errors[0];
  if (firstError === undefined) return fieldsOf(first, []);
  const quoted = quotePlainValues(yaml);
  const second = parse(quoted.yaml);
  if (quoted.lines.length > 0 && second.document.errors.length === 0) {
    const warnings = quoted.lines.map((line) => ({
      line: line + firstLine,
      message: "is not YAML as it stands and was read as plain text; put the value in quotes",
    }));
    return fieldsOf(second, warnings);
  }
  const at = firstError.linePos?.[0].line ?? 1;
  const message = firstError.message.split("\n")[0]?.replace(/ at line \d+, column \d+:?$/, "") ?? "";
  return { ok: false, line: at + firstLine - 1, message: `is not YAML: ${message}` };
}

interface Parsed {
  readonly document: Document.Parsed;
  readonly lines: LineCounter;
}

function parse(yaml: string): Parsed {
  const lines = new LineCounter();
  return { document: parseDocument(yaml, { lineCounter: lines, logLevel: "silent", stringKeys: true }), lines };
}

function fieldsOf({ document, lines }: Parsed, warnings: FrontMatter["warnings"]): FrontMatterReading {
  const alias = aliasIn(document);
  if (alias !== undefined) {
    return { ok: false, line: lines.linePos(alias).line + firstLine - 1, message: "has an alias (*); write it out" };
  }
  const number = unkeptNumberIn(document);
  if (number !== undefined) {
    const { line } = lines.linePos(number.at);
    const message = `has the number ${number.text}, which cannot be kept as it is; put it in quotes`;
    return { ok: false, line: line + firstLine - 1, message };
  }
  const value: unknown = document.toJS() ?? {};
  if (!isFields(value)) return { ok: false, line: firstLine, message: "must be fields, one `name: value` per line" };
  const lineOf = (path: readonly PropertyKey[]): number => {
    const offset = offsetOf(document.contents, path);
    return offset === undefined ? 1 : lines.linePos(offset).line + firstLine - 1;
  };
  return { ok: true, front: { fields: value, lineOf, warnings } };
}

/** An alias can refer to itself, or expand to more than fits in memory. */
function aliasIn(document: Document.Parsed): number | undefined {
  let found: number | undefined;
  visit(document, {
    Alias(_, node) {
      found = node.range?.[0] ?? 0;
      return visit.BREAK;
    },
  });
  return found;
}

/** The first number that would be changed by being read. */
function unkeptNumberIn(document: Document.Parsed): { readonly text: string; readonly at: number } | undefined {
  let found: { readonly text: string; readonly at: number } | undefined;
  visit(document, {
    Scalar(_, { value, source, range }) {
      const text = typeof value === "number" && !Number.isSafeInteger(value) ? unkeptNumber(source ?? "") : undefined;
      if (text === undefined) return undefined;
      found = { text, at: range?.[0] ?? 0 };
      return visit.BREAK;
    },
  });
  return found;
}

function isFields(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Where the deepest node along `path` begins. */
function offsetOf(node: unknown, path: readonly PropertyKey[]): number | undefined {
  const [head, ...rest] = path;
  if (head !== undefined && isMap(node)) {
    const pair = node.items.find(({ key }) => isScalar(key) && String(key.value) === String(head));
    if (pair !== undefined) {
      const key = isNode(pair.key) ? pair.key.range?.[0] : undefined;
      return rest.length === 0 ? key : (offsetOf(pair.value, rest) ?? key);
    }
  }
  return isNode(node) ? node.range?.[0] : undefined;
}

const plainField = /^([A-Za-z_][\w-]*):[ \t]+([^\s"'[\]{}|>&*!%@`#,?:-][^\r\n]*)(\r?)$/;

/**
 * Descriptions are often written as one long line with colons in it, which YAML takes for nested fields. Only top-level
 * values on one line are changed, so every other mistake is still reported.
 */
function quotePlainValues(yaml: string): { readonly yaml: string; readonly lines: readonly number[] } {
  const touched: number[] = [];
  const lines = yaml.split("\n").map((line, index) => {
    const found = plainField.exec(line);
    if (found === null) return line;
    const [, name = "", given = "", end = ""] = found;
    // Not part of the pattern: looking for the end of long rows of spaces would take the square of their length.
    const value = given.trimEnd();
    if (!/:(?:\s|$)|\s#/.test(value)) return line;
    touched.push(index);
    return `${name}: '${value.replaceAll("'", "''")}'${end}`;
  });
  return { yaml: lines.join("\n"), lines: touched };
}
