// Follows the lines of a streamed reply: tells its text from the blocks being written in fences.
import { closeForeign, type ForeignFences, isBareFence, openerAt, type Host, openForeign, runEnd } from "./fences.ts";
import { newFindings } from "./findings.ts";
import { readBlock } from "./read-block.ts";
import type { CallRules } from "./read-call.ts";
import { closeTag, newOpenTags, openTag, tagReader } from "./reasoning.ts";
import { followCall } from "./streamed-call.ts";
import type { ToolCallEvent } from "./tool-call-event.ts";
import { isSpace, skipSpace } from "../white-space.ts";

export interface FenceReader {
  /** Takes a piece of a line. */
  readonly takePiece: (piece: string) => void;
  readonly endLine: (lineBreak: "\n" | "") => void;
  /** Ends the reply: a block that is still open closes. */
  readonly end: () => void;
  /** How much of the line in hand was not passed on yet. */
  readonly heldLength: () => number;
  /** Forgets the line in hand, as far as it was not passed on. */
  readonly dropLine: () => void;
  /** The pieces of the line in hand. */
  readonly line: () => readonly string[];
  /** Whether the place in hand is outside blocks, fences and reasoning, as far as the lines before tell. */
  readonly isOutside: () => boolean;
  /** Whether the line in hand is blank so far. */
  readonly isLineBlank: () => boolean;
  /** Whether there was neither text nor a call so far. */
  readonly isReplyBlank: () => boolean;
  /** The number of a block that begins now. */
  readonly nextBlock: () => number;
  readonly emit: (event: ToolCallEvent) => void;
  readonly emitText: (piece: string) => void;
  /** The events since the last time. */
  readonly take: () => ToolCallEvent[];
}

interface OpenBlock {
  readonly opener: Host;
  readonly index: number;
  /** The lines of the body. */
  readonly lines: string[];
  /** The block as it is written, with its fences and line breaks. */
  readonly written: string[];
  /** Takes pieces of the body as they come; absent for a json fence, which may turn out to hold data. */
  readonly follow: ((piece: string) => void) | undefined;
}

interface EndedLine {
  readonly whole: string;
  /** The part that was not passed on yet: all of the line, or nothing. */
  readonly held: string;
  /** Empty at the end of the reply. */
  readonly lineBreak: "\n" | "";
}

/** A line that may become a fence is held back up to this length; a longer one is shown as it comes. */
const longestHeld = 200;

export function createFenceReader({ dialect, tools }: CallRules): FenceReader {
  /** A fence, or a tag that may close right before one on the same line. */
  const heldStarts = `<${dialect.markers.map((marker) => marker[0]).join("")}`;
  const foreign: ForeignFences = { open: [] };
  const tags = newOpenTags();
  const readTag = tagReader(dialect);
  let line: string[] = [];
  /** The line so far, while it is held back because it is blank or may be a fence. */
  let held: string[] = [];
  let heldLength = 0;
  let isHeld = true;
  let lineStart: "blank" | "fence" | "other" = "blank";
  let block: OpenBlock | undefined;
  let blocks = 0;
  let completed = false;
  /** Text other than blanks was met outside reasoning. */
  let anyText = false;
  /** A fence without an info string is open, in which the dialects of models are quoted. */
  let bareFence = false;
  /** Whether the visible line in hand is blank so far; it outlives a line break inside reasoning. */
  let lineBlank = true;
  let events: ToolCallEvent[] = [];
  /** Text that is not in the events yet: pieces that follow one another become one event. */
  let text = "";

  function emit(event: ToolCallEvent): void {
    if (text !== "") events.push({ type: "text", text });
    text = "";
    const last = events.at(-1);
    if (event.type === "call_arguments" && last?.type === "call_arguments" && last.block === event.block) {
      events[events.length - 1] = { ...event, text: last.text + event.text };
    } else events.push(event);
  }

  /** Passes on what is no fence: as text of the reply, or to the call it belongs to. */
  function pass(piece: string): void {
    if (block === undefined) text += piece;
    else block.follow?.(piece);
  }

  function takePiece(piece: string): void {
    line.push(piece);
    if (lineStart === "blank") {
      const at = skipSpace(piece, 0, piece.length);
      if (at < piece.length) lineStart = heldStarts.includes(piece.charAt(at)) ? "fence" : "other";
    }
    if (!isHeld) {
      pass(piece);
      return;
    }
    held.push(piece);
    heldLength += piece.length;
    if (lineStart === "other" || (lineStart === "fence" && heldLength > longestHeld)) {
      isHeld = false;
      pass(takeHeld());
    }
  }

  function takeHeld(): string {
    const [only = ""] = held;
    const all = held.length > 1 ? held.join("") : only;
    held = [];
    heldLength = 0;
    return all;
  }

  function endLine(lineBreak: EndedLine["lineBreak"]): void {
    // Most lines are neither fences nor in reasoning, and need no reading.
    const isPlain =
      block === undefined &&
      lineStart !== "fence" &&
      tags.names.length === 0 &&
      !line.some((piece) => piece.includes("<"));
    if (isPlain) anyText ||= lineStart === "other";
    const ended: EndedLine = { whole: isPlain ? "" : line.join(""), held: takeHeld(), lineBreak };
    line = [];
    isHeld = true;
    lineStart = "blank";
    if (isPlain) {
      lineBlank = true;
      text += ended.held + lineBreak;
    } else if (block === undefined) readOutside(ended);
    else readInside(ended, block);
  }

  function readInside(ended: EndedLine, current: OpenBlock): void {
    const { whole, held: rest, lineBreak } = ended;
    const at = skipSpace(whole, 0, whole.length);
    if (whole.startsWith(current.opener.marker, at) && isBareFence(whole, at, whole.length)) {
      current.written.push(whole, lineBreak);
      finish(current, "closed");
      return;
    }
    const fence = dialect.markers.some((marker) => whole.startsWith(marker, at));
    const opener = fence && dialect.allows.openerClosesBlock ? openerAt(whole, at, whole.length, dialect) : undefined;
    if (opener === undefined) {
      current.lines.push(whole);
      current.written.push(whole, lineBreak);
      pass(rest + lineBreak);
    } else {
      finish(current, "opener");
      readOutside(ended);
    }
  }

  function readOutside({ whole, held: rest, lineBreak }: EndedLine): void {
    const visible = stripReasoning(whole);
    anyText ||= !isBlank(visible);
    const opener = openerIn(visible);
    if (opener === undefined) {
      text += rest + lineBreak;
      return;
    }
    // Reasoning may end right before the opener, on the same line; it is text. A long line was passed on already.
    const fence = visible.slice(skipSpace(visible, 0, visible.length));
    const before = rest.endsWith(fence) ? rest.slice(0, rest.length - fence.length) : "";
    const reasoning = isBlank(before) ? "" : before;
    text += reasoning;
    open(opener, rest.slice(reasoning.length) + lineBreak);
  }

  function openerIn(visible: string): Host | undefined {
    const continued = !lineBlank;
    lineBlank = tags.names.length === 0 || (lineBlank && isBlank(visible));
    if (continued) return undefined;
    const at = skipSpace(visible, 0, visible.length);
    if (!dialect.markers.some((marker) => visible.startsWith(marker, at))) return undefined;
    const opener = tags.names.length === 0 ? openerAt(visible, at, visible.length, dialect) : undefined;
    if (opener !== undefined && foreign.open.length === 0) return opener;
    if (dialect.tracksForeignFences) followForeign(visible, at);
    return undefined;
  }

  function nextBlock(): number {
    blocks += 1;
    return blocks - 1;
  }

  function open(opener: Host, openerLine: string): void {
    const index = nextBlock();
    // A json fence may turn out to be data, so nothing is said of it before its end.
    const follow =
      opener.form === "json"
        ? undefined
        : followCall({
            dialect,
            tools,
            onName: (name) => emit({ type: "call_named", block: index, name }),
            onArguments: (piece) => emit({ type: "call_arguments", block: index, text: piece }),
          });
    block = { opener, index, lines: [], written: [openerLine], follow };
    if (opener.form !== "json") emit({ type: "call_started", block: index });
  }

  function followForeign(visible: string, at: number): void {
    const past = runEnd(visible, at);
    const code = visible.charCodeAt(at);
    const rest = visible.slice(past);
    if (isBlank(rest)) {
      if (foreign.open.length === 0) bareFence = !bareFence;
      closeForeign(foreign, code, past - at);
    } else if (code !== 0x60 || !rest.includes("`")) openForeign(foreign, code, past - at);
  }

  /** The part of a line outside reasoning; a tag counts as reasoning until it closes. */
  function stripReasoning(whole: string): string {
    if (tags.names.length === 0 && !whole.includes("<")) return whole;
    let visible = "";
    let from = 0;
    for (let at = whole.indexOf("<"); at !== -1;) {
      const tag = readTag(whole, at);
      if (tag !== undefined) {
        if (tags.names.length === 0) visible += whole.slice(from, at);
        if (tag.form === "open") openTag(tags, tag.name, at);
        else if (tag.form === "close" && closeTag(tags, tag.name) === undefined && !completed) {
          // All there was before was reasoning.
          visible = "";
          lineBlank = true;
          foreign.open.length = 0;
          bareFence = false;
          anyText = false;
        }
        from = tag.end;
      }
      at = whole.indexOf("<", tag?.end ?? at + 1);
    }
    return tags.names.length === 0 ? visible + whole.slice(from) : visible;
  }

  function finish({ opener, index, lines, written }: OpenBlock, ended: "closed" | "opener" | "eof"): void {
    block = undefined;
    const body = lines.join("\n");
    const findings = newFindings();
    const whole = { opener, openerAt: 0, bodyStart: 0, bodyEnd: body.length, ended };
    readBlock(body, whole, { dialect, tools, cut: false, findings });
    if (findings.calls.length === 0) {
      if (opener.form === "json") text += written.join("");
      else emit({ type: "call_failed", block: index, text: written.join("") });
      return;
    }
    completed = true;
    if (opener.form === "json") emit({ type: "call_started", block: index });
    for (const { name, args } of findings.calls) emit({ type: "call_completed", block: index, name, args });
  }

  function take(): ToolCallEvent[] {
    if (text !== "") events.push({ type: "text", text });
    const taken = events;
    events = [];
    text = "";
    return taken;
  }

  return {
    takePiece,
    endLine,
    end() {
      if (line.length > 0) endLine("");
      if (block !== undefined) finish(block, "eof");
    },
    heldLength: () => heldLength,
    dropLine() {
      takeHeld();
      line = [];
      isHeld = true;
      lineStart = "blank";
    },
    line: () => line,
    isOutside: () => block === undefined && foreign.open.length === 0 && !bareFence && tags.names.length === 0,
    isLineBlank: () => lineStart === "blank",
    isReplyBlank: () => !anyText && !completed && lineStart === "blank",
    nextBlock,
    emit,
    emitText: (piece) => (text += piece),
    take,
  };
}

function isBlank(text: string): boolean {
  for (let at = 0; at < text.length; at += 1) if (!isSpace(text.charCodeAt(at))) return false;
  return true;
}
