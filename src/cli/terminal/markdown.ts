// Shows Markdown on a terminal, also while it is being written: headings, lists, bold text, code and links.
//
// Only whole rows are written, since a terminal cannot take a row back. What is written does not depend on the pieces in
// which the text comes. Every word of the text is shown: what is not understood as Markdown is shown as it is.
import { paint as paintForTerminal } from "./style.ts";
import { rowsOf } from "./wrap.ts";
import { printable } from "./printable.ts";

export interface MarkdownStream {
  /** Takes the next piece of the text and returns the lines that can be written. */
  push(text: string): string[];
  /** The text is over. Returns the lines that are left. */
  end(): string[];
}

/** A longer line is divided, so that a line is never looked at as a whole too often. */
const longestLine = 2_000;
/** The line that is being written is looked at again when it has grown by so much. */
const growth = 16;
const leastRoom = 16;

export interface MarkdownOptions {
  /** Of the terminal, in columns. */
  readonly width: number;
  readonly indent: number;
  /** Colours text, or returns it as it is where there are no colours. */
  readonly paint?: Paint;
}

type Paint = typeof paintForTerminal;

export function markdownStream({ width, indent, paint = paintForTerminal }: MarkdownOptions): MarkdownStream {
  const margin = " ".repeat(Math.max(0, Math.min(indent, width - leastRoom)));
  const room = width - margin.length;
  let fence: string | undefined;
  let line = "";
  let lookedAt = 0;
  /** Rows of the line that is being written which are on the screen already. */
  let shown = 0;

  const rows = (text: string, isWhole: boolean): string[] => {
    const { kind, before, after, body } = blockOf(text, fence, paint);
    const said = kind === "code" ? body : kind === "heading" ? paint("bold", body) : inline(body, { isWhole, paint });
    // On a narrow terminal, signs stay and spaces go.
    const [first = "", later = ""] = [before, after].map((part) =>
      part.length > room - leastRoom ? part.trimStart() : part,
    );
    const broken = rowsOf(said, { first: room - first.length, later: room - later.length });
    const all = broken.map((row, index) => `${margin}${index === 0 ? first : later}${row}`.trimEnd());
    return isWhole ? all : all.slice(0, -1);
  };
  const endLine = (): string[] => {
    const text = line;
    const from = shown;
    [line, lookedAt, shown] = ["", 0, 0];
    const mark = fenceIn(text);
    if (fence === undefined ? mark !== undefined : mark === fence) {
      fence = fence === undefined ? mark : undefined;
      const info = text
        .trim()
        .replace(/^[`~]+/, "")
        .trim();
      if (info === "") return [];
      return rowsOf(paint("dim", info), { first: room, later: room }).map((row) => `${margin}${row}`);
    }
    return rows(text, true).slice(from);
  };
  const grow = (): string[] => {
    if (line.length < lookedAt + growth || isUndecided(line)) return [];
    lookedAt = line.length;
    const ready = rows(line, false).slice(shown);
    shown += ready.length;
    return ready;
  };
  return {
    push(text) {
      const lines: string[] = [];
      for (const [index, part] of printable(text).replaceAll("\t", "    ").split("\n").entries()) {
        if (index > 0) lines.push(...endLine());
        line += part;
        while (line.length > longestLine) {
          const space = line.lastIndexOf(" ", longestLine);
          const at = space > longestLine / 2 ? space : longestLine;
          const rest = line.slice(at);
          line = line.slice(0, at);
          lines.push(...endLine());
          line = rest;
        }
        lines.push(...grow());
      }
      return lines;
    },
    end: () => (line === "" ? [] : endLine()),
  };
}

/** All of the text at once. */
export function markdownLines(text: string, options: MarkdownOptions): string[] {
  const stream = markdownStream(options);
  return [...stream.push(text), ...stream.end()];
}

function fenceIn(line: string): string | undefined {
  const found = /^ {0,3}(```+|~~~+)[^`]*$/.exec(line)?.[1];
  return found?.slice(0, 3);
}

/** It may still become the fence of a block of code, or a line that divides. */
function isUndecided(line: string): boolean {
  return /^ {0,3}(?:`{1,2}$|```|~{1,2}$|~~~|[-*_ ]*$)/.test(line);
}

interface Block {
  readonly kind: "text" | "heading" | "code";
  /** What stands before the first row and before every later one. */
  readonly before: string;
  readonly after: string;
  readonly body: string;
}

function blockOf(line: string, fence: string | undefined, paint: Paint): Block {
  if (fence !== undefined) return { kind: "code", before: "    ", after: "    ", body: line };
  const heading = /^ {0,3}#{1,6} +(.*)$/.exec(line)?.[1];
  if (heading !== undefined && paint("bold", "x") !== "x") {
    return { kind: "heading", before: "", after: "", body: heading.replaceAll(/\*\*|`/g, "") };
  }
  const item = /^( *)([-*+]|\d{1,9}[.)]) +(\S.*)$/.exec(line);
  if (item !== null) {
    const [, spaces = "", sign = "", body = ""] = item;
    const before = `${spaces}${/\d/.test(sign) ? sign : "•"} `;
    return { kind: "text", before, after: " ".repeat(before.length), body };
  }
  const quoted = /^ {0,3}> ?(.*)$/.exec(line)?.[1];
  if (quoted !== undefined) return { kind: "text", before: "│ ", after: "│ ", body: quoted };
  const spaces = /^ */.exec(line)?.[0] ?? "";
  return { kind: "text", before: spaces, after: spaces, body: line.slice(spaces.length) };
}

interface InlineOptions {
  readonly isWhole: boolean;
  readonly paint: Paint;
}

/** While the line is being written, a mark whose end may still come is left out, with all that follows it. */
function inline(text: string, { isWhole, paint }: InlineOptions): string {
  let out = "";
  for (let at = 0; at < text.length;) {
    const rest = text.slice(at);
    const literal = /^[^`*[]+/.exec(rest)?.[0];
    const span: Span | undefined =
      literal === undefined ? spanIn(rest, paint) : { shown: literal, length: literal.length };
    if (!isWhole && literal === undefined && !isDecided(rest, span)) return out;
    out += span?.shown ?? rest.slice(0, 1);
    at += span?.length ?? 1;
  }
  return out;
}

interface Span {
  readonly shown: string;
  /** Of its source. */
  readonly length: number;
}

const longestLabel = 200;
const longestUrl = 500;

/** More text cannot make the mark mean something else. */
function isDecided(text: string, span: Span | undefined): boolean {
  if (span !== undefined) return span.length < text.length;
  if (text.startsWith("`")) return false;
  if (text.startsWith("*")) return /^\*(?:[^*]|\*[\s*])/.test(text);
  return /^\[(?:\]|[^[\]]*\[|[^[\]]+\][^(])/.test(text) || text.length > longestLabel + longestUrl;
}

function spanIn(text: string, paint: Paint): Span | undefined {
  if (text.startsWith("`")) return codeSpan(text, paint);
  return text.startsWith("*") ? boldSpan(text, paint) : link(text, paint);
}

function codeSpan(text: string, paint: Paint): Span | undefined {
  const ticks = /^`+/.exec(text)?.[0] ?? "";
  for (const { 0: run, index } of text.matchAll(/`+/g)) {
    if (index === 0 || run.length !== ticks.length) continue;
    const length = index + run.length;
    return { shown: coloured(paint("blue", text.slice(ticks.length, index)), text.slice(0, length)), length };
  }
  return undefined;
}

function boldSpan(text: string, paint: Paint): Span | undefined {
  const [source = "", body = ""] = /^\*\*((?![\s*]).*?\S)\*\*/.exec(text) ?? [];
  if (source === "") return undefined;
  return { shown: coloured(paint("bold", body.replaceAll("`", "")), source), length: source.length };
}

const linkPattern = new RegExp(`^\\[([^[\\]]{1,${longestLabel}})\\]\\(([^()\\s]{1,${longestUrl}})\\)`);

function link(text: string, paint: Paint): Span | undefined {
  const [source = "", label = "", url = ""] = linkPattern.exec(text) ?? [];
  if (source === "") return undefined;
  return { shown: label === url ? url : `${label} ${paint("dim", `(${url})`)}`, length: source.length };
}

/** Without colours the marks of the source stay, as nothing else would show what is meant. */
function coloured(shown: string, source: string): string {
  return source.includes(shown) ? source : shown;
}
