// Follows a reply while it streams in and says which calls are being written. For display only: what runs is decided
// by parseToolCalls on the whole reply, which alone knows whether a tag closes or the reply was cut.
import { dialects, type Dialect, type Profile } from "./dialect.ts";
import { closeForeign, type ForeignFences, isBareFence, openerAt, type Host, openForeign, runEnd } from "./fences.ts";
import { newFindings } from "./findings.ts";
import { readBlock } from "./read-block.ts";
import { closeTag, newOpenTags, openTag, tagReader } from "./reasoning.ts";
import type { JsonObject } from "./tool-call.ts";
import { isSpace, skipSpace } from "../white-space.ts";

/** `block` counts the blocks of the reply; a block may complete several calls, or fail. */
export type ToolCallEvent =
  | { readonly type: "call_started"; readonly block: number }
  | { readonly type: "call_named"; readonly block: number; readonly name: string }
  | { readonly type: "call_completed"; readonly block: number; readonly name: string; readonly args: JsonObject }
  | { readonly type: "call_failed"; readonly block: number };

export interface ToolCallReader {
  /** Takes the next piece of the reply, cut anywhere. */
  readonly push: (chunk: string) => ToolCallEvent[];
  /** Takes the end of the reply: a block that is still open closes. */
  readonly end: () => ToolCallEvent[];
}

export interface ReaderOptions {
  readonly profile?: Profile;
  readonly tools?: readonly string[];
}

interface OpenBlock {
  readonly opener: Host;
  readonly index: number;
  readonly lines: string[];
  /** The beginning of the body, until the name is known. */
  head: string | undefined;
}

/** Enough of a body to hold the name, if the name comes first. */
const headLength = 200;

/** Never throws; linear in the reply over all pieces. */
export function createToolCallReader(options: ReaderOptions = {}): ToolCallReader {
  const dialect = dialects[options.profile ?? "tolerant"];
  const tools = options.tools === undefined ? undefined : new Set(options.tools);
  const foreign: ForeignFences = { open: [] };
  const tags = newOpenTags();
  const readTag = tagReader(dialect);
  let partial: string[] = [];
  let block: OpenBlock | undefined;
  let blocks = 0;
  let completed = false;
  /** Whether the visible line in hand is blank so far; it outlives a line break inside reasoning. */
  let lineBlank = true;
  let events: ToolCallEvent[] = [];

  function readLine(line: string): void {
    if (block === undefined) readOutside(line);
    else readInside(line, block);
  }

  function readInside(line: string, current: OpenBlock): void {
    const at = skipSpace(line, 0, line.length);
    if (line.startsWith(current.opener.marker, at) && isBareFence(line, at, line.length)) {
      finish(current, "closed");
      return;
    }
    const fence = dialect.markers.some((marker) => line.startsWith(marker, at));
    const opener = fence && dialect.allows.openerClosesBlock ? openerAt(line, at, line.length, dialect) : undefined;
    if (opener === undefined) current.lines.push(line);
    else {
      finish(current, "opener");
      readOutside(line);
    }
  }

  function readOutside(line: string): void {
    const visible = stripReasoning(line);
    const continued = !lineBlank;
    lineBlank = tags.names.length === 0 || (lineBlank && isBlank(visible));
    if (continued) return;
    const at = skipSpace(visible, 0, visible.length);
    if (!dialect.markers.some((marker) => visible.startsWith(marker, at))) return;
    const opener = tags.names.length === 0 ? openerAt(visible, at, visible.length, dialect) : undefined;
    if (opener !== undefined && foreign.open.length === 0) open(opener);
    else if (dialect.tracksForeignFences) followForeign(visible, at);
  }

  function open(opener: Host): void {
    block = { opener, index: blocks, lines: [], head: opener.form === "json" ? undefined : "" };
    blocks += 1;
    // A json fence may turn out to be data, so nothing is said of it before its end.
    if (opener.form !== "json") events.push({ type: "call_started", block: block.index });
  }

  function followForeign(line: string, at: number): void {
    const past = runEnd(line, at);
    const code = line.charCodeAt(at);
    const rest = line.slice(past);
    if (isBlank(rest)) closeForeign(foreign, code, past - at);
    else if (code !== 0x60 || !rest.includes("`")) openForeign(foreign, code, past - at);
  }

  /** The part of a line outside reasoning; a tag counts as reasoning until it closes. */
  function stripReasoning(line: string): string {
    if (tags.names.length === 0 && !line.includes("<")) return line;
    let visible = "";
    let from = 0;
    for (let at = line.indexOf("<"); at !== -1;) {
      const tag = readTag(line, at);
      if (tag !== undefined) {
        if (tags.names.length === 0) visible += line.slice(from, at);
        if (tag.form === "open") openTag(tags, tag.name, at);
        else if (tag.form === "close" && closeTag(tags, tag.name) === undefined && !completed) {
          // All there was before was reasoning.
          visible = "";
          lineBlank = true;
          foreign.open.length = 0;
        }
        from = tag.end;
      }
      at = line.indexOf("<", tag?.end ?? at + 1);
    }
    return tags.names.length === 0 ? visible + line.slice(from) : visible;
  }

  function finish(current: OpenBlock, ended: "closed" | "opener" | "eof"): void {
    block = undefined;
    const { opener, index } = current;
    const body = current.lines.join("\n");
    const findings = newFindings();
    const whole = { opener, openerAt: 0, bodyStart: 0, bodyEnd: body.length, ended };
    readBlock(body, whole, { dialect, tools, cut: false, findings });
    if (findings.calls.length === 0) {
      if (opener.form !== "json") events.push({ type: "call_failed", block: index });
      return;
    }
    completed = true;
    if (opener.form === "json") events.push({ type: "call_started", block: index });
    for (const { name, args } of findings.calls) events.push({ type: "call_completed", block: index, name, args });
  }

  /** Looks for the name in the first characters of the body, as they come. */
  function sniffName(piece: string): void {
    if (block?.head === undefined) return;
    block.head += piece.slice(0, headLength);
    const name = nameIn(block.head, dialect);
    if (name !== undefined) events.push({ type: "call_named", block: block.index, name });
    if (name !== undefined || block.head.length > headLength) block.head = undefined;
  }

  function take(): ToolCallEvent[] {
    const taken = events;
    events = [];
    return taken;
  }

  return {
    push(chunk) {
      let from = 0;
      for (let lineBreak = chunk.indexOf("\n"); lineBreak !== -1; lineBreak = chunk.indexOf("\n", from)) {
        const rest = chunk.slice(from, lineBreak);
        const line = partial.length === 0 ? rest : partial.join("") + rest;
        sniffName(`${rest}\n`);
        partial = [];
        readLine(line);
        from = lineBreak + 1;
      }
      if (from < chunk.length) {
        const rest = chunk.slice(from);
        partial.push(rest);
        sniffName(rest);
      }
      return take();
    },
    end() {
      if (partial.length > 0) readLine(partial.join(""));
      partial = [];
      if (block !== undefined) finish(block, "eof");
      return take();
    },
  };
}

function isBlank(line: string): boolean {
  for (let at = 0; at < line.length; at += 1) if (!isSpace(line.charCodeAt(at))) return false;
  return true;
}

function nameIn(head: string, dialect: Dialect): string | undefined {
  const match = /^\s*\{\s*"([a-z_]+)"\s*:\s*"([^"\\\n]+)"/.exec(head);
  return match?.[1] !== undefined && dialect.nameKeys.includes(match[1]) ? match[2] : undefined;
}
