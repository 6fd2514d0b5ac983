// Reasoning tags: what counts as one, and which text is inside it.
import type { Dialect } from "./dialect.ts";
import { blankFrom, blockEnds, finder, nearest, openerAt, runEnd } from "./fences.ts";
import { newFindings } from "./findings.ts";
import { readBlock, type BlockRules } from "./read-block.ts";
import type { ParsedToolCall } from "./tool-call.ts";

export interface ReasoningTag {
  readonly name: string;
  readonly form: "open" | "close" | "empty";
  readonly end: number;
}

type TagReader = (text: string, at: number) => ReasoningTag | undefined;

const readers = new Map<Dialect, TagReader>();

/** Reads the tag at a `<`: any case, attributes on the same line. */
export function tagReader(dialect: Dialect): TagReader {
  const known = readers.get(dialect);
  if (known !== undefined) return known;
  const pattern = new RegExp(`<(/?)(${dialect.reasoningTags.join("|")})(?:\\s[^<>\\n]*?)?(/?)>`, "iy");
  const initials = new Set(dialect.reasoningTags.map((name) => name.charCodeAt(0)));
  const reader: TagReader = (text, at) => {
    const after = text.charCodeAt(at + 1);
    const initial = after === 0x2f ? text.charCodeAt(at + 2) : after;
    if (!initials.has(initial | 0x20)) return undefined;
    pattern.lastIndex = at;
    const match = pattern.exec(text);
    if (match === null) return undefined;
    const form = match[1] === "/" ? "close" : match[3] === "/" ? "empty" : "open";
    const written = match[2] ?? "";
    // The name is taken from the table: a slice of the reply for each tag would cost memory in a hostile reply.
    const name = dialect.reasoningTags.find((known) => known === written || known === written.toLowerCase());
    return name === undefined ? undefined : { name, form, end: pattern.lastIndex };
  };
  readers.set(dialect, reader);
  return reader;
}

interface ReasoningSpan {
  /** Where the closing tag begins and ends. */
  readonly innerEnd: number;
  readonly end: number;
}

/** The open tags, innermost last, as two plain lists, because a hostile reply may open millions. */
export interface OpenTags {
  readonly names: string[];
  readonly places: number[];
  readonly counts: Map<string, number>;
}

export function newOpenTags(): OpenTags {
  return { names: [], places: [], counts: new Map() };
}

export function openTag({ names, places, counts }: OpenTags, name: string, at: number): void {
  names.push(name);
  places.push(at);
  counts.set(name, (counts.get(name) ?? 0) + 1);
}

/**
 * A close ends the nearest open tag of its name and everything opened since. Returns where that tag stands, or
 * undefined if none is open.
 */
export function closeTag({ names, places, counts }: OpenTags, name: string): number | undefined {
  if ((counts.get(name) ?? 0) === 0) return undefined;
  for (;;) {
    const innermost = names.pop();
    const at = places.pop();
    if (innermost === undefined) return undefined;
    counts.set(innermost, (counts.get(innermost) ?? 1) - 1);
    if (innermost === name) return at;
  }
}

type IgnoredCall = Omit<ParsedToolCall, "id">;

export interface ReasoningScan {
  /** The span a tag opens, or undefined if it never closes. Tags must be asked for in their order in the text. */
  readonly spanOf: (at: number, tag: ReasoningTag) => ReasoningSpan | undefined;
  /** The calls seen in [from, end). Each call is returned once. */
  readonly ignoredIn: (from: number, end: number) => IgnoredCall[];
}

/**
 * Looks ahead from an opening tag for its closing tag. A search that reaches the end of the text has seen every later
 * tag, so its pairs are kept and no further search is made: the whole costs one pass.
 */
export function reasoningScan(text: string, rules: BlockRules, markers: readonly string[]): ReasoningScan {
  const readTag = tagReader(rules.dialect);
  // Nothing in reasoning runs, so blocks are read leniently, whatever the profile.
  const allows = { ...rules.dialect.allows, severalObjects: true, openerClosesBlock: true };
  const dialect = { ...rules.dialect, allows };
  const nextAngle = finder(text, "<");
  const nextFence = nearest(text, markers);
  const nextLineBreak = finder(text, "\n");
  const endOfBlock = blockEnds(text, dialect, markers);
  let pairs: Map<number, ReasoningSpan> | undefined;
  const seen: { readonly at: number; readonly call: IgnoredCall }[] = [];
  let taken = 0;

  /** Lists the calls of a block inside reasoning; returns where the search for tags continues, after its complete objects. */
  function passBlock(fence: number, lineFloor: number): number {
    const past = runEnd(text, fence);
    if (blankFrom(text, fence, lineFloor, true) === -1) return past;
    const lineEnd = nextLineBreak(fence);
    const opener = openerAt(text, fence, lineEnd, dialect);
    if (opener === undefined) return past;
    const bodyStart = Math.min(lineEnd + 1, text.length);
    const { bodyEnd, ended } = endOfBlock(bodyStart, opener.marker);
    const findings = newFindings();
    const reading = readBlock(
      text,
      { opener, openerAt: fence, bodyStart, bodyEnd, ended },
      { dialect, tools: rules.tools, cut: false, findings },
    );
    for (const { name, args } of findings.calls) seen.push({ at: fence, call: { name, args } });
    return findings.calls.length > 0 ? Math.max(past, reading.end) : past;
  }

  function look(from: number, first: ReasoningTag): ReasoningSpan | undefined {
    const open = newOpenTags();
    openTag(open, first.name, from);
    /** For each pair that closed on the way: where its tag opens, and where the closing tag begins and ends. */
    const closed: number[] = [];
    // After a tag at the start of a line, a block may open on the same line.
    const opensLine = from === 0 || blankFrom(text, from, Math.max(0, from - 200), from <= 200) !== -1;
    let at = first.end;
    let lineFloor = opensLine ? first.end : from;
    for (;;) {
      const angle = nextAngle(at);
      const fence = nextFence(at);
      if (angle >= text.length && fence >= text.length) break;
      if (fence < angle) {
        at = passBlock(fence, lineFloor);
        continue;
      }
      const tag = readTag(text, angle);
      at = tag?.end ?? angle + 1;
      if (tag?.form === "open") {
        lineFloor = blankFrom(text, angle, lineFloor, true) === -1 ? angle : at;
        openTag(open, tag.name, angle);
      } else if (tag?.form === "close") {
        const opened = closeTag(open, tag.name);
        if (opened === undefined) continue;
        if (opened === from) return { innerEnd: angle, end: at };
        closed.push(opened, angle, at);
      }
    }
    pairs = new Map();
    for (let index = 0; index < closed.length; index += 3) {
      const [opened = 0, innerEnd = 0, end = 0] = closed.slice(index, index + 3);
      pairs.set(opened, { innerEnd, end });
    }
    return undefined;
  }

  return {
    spanOf: (at, tag) => (pairs === undefined ? look(at, tag) : pairs.get(at)),
    ignoredIn(from, end) {
      const calls: IgnoredCall[] = [];
      for (; taken < seen.length; taken += 1) {
        const entry = seen[taken];
        if (entry === undefined || entry.at >= end) break;
        if (entry.at >= from) calls.push(entry.call);
      }
      return calls;
    },
  };
}
