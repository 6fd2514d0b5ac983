// Follows a reply while it streams in: tells its text from the calls being written. For display only: what runs is decided
// by parseToolCalls on the whole reply, which alone knows whether a tag closes or the reply was cut.
import { dialects, type Profile } from "./dialect.ts";
import { isQuotedAt, type LineQuote, newLineQuote } from "./dialects/line-quote.ts";
import { dialectTokenAt } from "./dialects/model-dialects.ts";
import { judge, nextWatched } from "./dialects/watch-dialects.ts";
import { createFenceReader } from "./fence-reader.ts";
import { readRest } from "./read-rest.ts";
import { followCall } from "./streamed-call.ts";
import type { ToolCallEvent } from "./tool-call-event.ts";

export type { ToolCallEvent } from "./tool-call-event.ts";

export interface ToolCallReader {
  /** Takes the next piece of the reply, cut anywhere. */
  readonly push: (chunk: string) => ToolCallEvent[];
  /** Takes the end of the reply: a block that is still open closes. */
  readonly end: () => ToolCallEvent[];
}

export interface ReaderOptions {
  readonly profile?: Profile;
  readonly tools?: readonly string[] | ReadonlySet<string>;
}

/** The end of a reply that is not shown yet, because it may be a call without a fence. */
interface HeldEnd {
  readonly chunks: string[];
  /** A call that is told while it is written, as far as that is possible. */
  readonly call: { readonly block: number; readonly follow: (piece: string) => void } | undefined;
}

/** Never throws; linear in the reply over all pieces. */
export function createToolCallReader(options: ReaderOptions = {}): ToolCallReader {
  const dialect = dialects[options.profile ?? "tolerant"];
  const tools = options.tools === undefined ? undefined : new Set(options.tools);
  const rules = { dialect, tools };
  const lines = createFenceReader(rules);
  let watches = dialect.allows.modelDialects;
  /** The whole reply; kept only where calls without a fence are read. */
  const chunks: string[] = [];
  /** The beginning of what may be a call, as long as more of the reply is needed to tell. */
  let pending = "";
  let held: HeldEnd | undefined;
  let completed = 0;
  let quote = newQuoteSearch();

  /** Passes the text on, up to a place where a call without a fence may begin. */
  function read(text: string): void {
    let at = 0;
    /** No call begins before this place. */
    let judgedTo = 0;
    while (at < text.length) {
      const lineBreak = text.indexOf("\n", at);
      const to = lineBreak === -1 ? text.length : lineBreak;
      const place = watches ? placeIn(text, { at, from: Math.max(at, judgedTo), to }) : -1;
      if (place !== -1) {
        if (place > at) lines.takePiece(text.slice(at, place));
        at = place;
        const rest = text.slice(place);
        const judgement = judge(rest, { ...beginnings(), isQuoted }, rules);
        if (judgement === "more") pending = rest;
        if (judgement === "call") hold(rest);
        if (judgement !== "text") return;
        judgedTo = place + (dialectTokenAt(rest, 0)?.length ?? 1);
      } else {
        if (to > at) lines.takePiece(text.slice(at, to));
        if (lineBreak !== -1) {
          lines.endLine("\n");
          quote = newQuoteSearch();
        }
        at = to + 1;
      }
    }
  }

  function beginnings(): { readonly opensLine: boolean; readonly opensReply: boolean } {
    return { opensLine: lines.line().length === 0, opensReply: lines.isReplyBlank() };
  }

  function placeIn(text: string, { at, from, to }: { at: number; from: number; to: number }): number {
    if (from >= to || !lines.isOutside()) return -1;
    const begins = from === at ? beginnings() : { opensLine: false, opensReply: false };
    return nextWatched(text, { from, to }, { ...begins, initials: dialect.dialectInitials });
  }

  /** Whether the place after the line in hand is quoted. */
  function isQuoted(): boolean {
    const pieces = lines.line();
    const text = quote.tail + pieces.slice(quote.pieces).join("");
    quote.state.at = quote.tail.length;
    quote.pieces = pieces.length;
    quote.tail = text.slice(-2);
    return isQuotedAt(quote.state, text, text.length);
  }

  function hold(rest: string): void {
    const isTold = rest.startsWith(objectTag) && lines.isLineBlank();
    held = { chunks: [rest], call: isTold ? beginCall() : undefined };
    held.call?.follow(rest.slice(objectTag.length));
  }

  function beginCall(): HeldEnd["call"] {
    const block = lines.nextBlock();
    lines.emit({ type: "call_started", block });
    const follow = followCall({
      ...rules,
      onName: (name) => lines.emit({ type: "call_named", block, name }),
      onArguments: (text) => lines.emit({ type: "call_arguments", block, text }),
    });
    return { block, follow };
  }

  /** Now that the reply is whole, what was held back is told as parseToolCalls reads it. */
  function endHeld(): void {
    const rest = pending + (held?.chunks.join("") ?? "");
    const whole = chunks.join("");
    const from = whole.length - rest.length - lines.heldLength();
    const found = readRest(whole, options, from);
    const calls = found?.calls.slice(completed) ?? [];
    const isFailed = calls.length === 0 && (found?.isBroken === true || held?.call !== undefined);
    if (found !== undefined) {
      lines.dropLine();
      lines.emitText(found.prose);
    }
    if (calls.length > 0 || isFailed) {
      const block = held?.call?.block ?? lines.nextBlock();
      if (held?.call === undefined) lines.emit({ type: "call_started", block });
      for (const { name, args } of calls) lines.emit({ type: "call_completed", block, name, args });
      if (isFailed) lines.emit({ type: "call_failed", block, text: found?.leftOut ?? "" });
    }
    watches = false;
    if (found === undefined) read(rest);
  }

  function take(): ToolCallEvent[] {
    const events = lines.take();
    for (const { type } of events) if (type === "call_completed") completed += 1;
    return events;
  }

  return {
    push(chunk) {
      if (watches) chunks.push(chunk);
      if (held === undefined) {
        const text = pending + chunk;
        pending = "";
        read(text);
      } else {
        held.chunks.push(chunk);
        held.call?.follow(chunk);
      }
      return take();
    },
    end() {
      if (held !== undefined || pending !== "") endHeld();
      lines.end();
      return take();
    },
  };
}

/** The tag before the JSON object of a call, which can be told while it is written. */
const objectTag = "<tool_call>";

/** How far the line in hand was searched for quotation marks. */
interface QuoteSearch {
  readonly state: LineQuote;
  pieces: number;
  /** The last two characters, which tell whether a quotation mark opens. */
  tail: string;
}

function newQuoteSearch(): QuoteSearch {
  return { state: newLineQuote(), pieces: 0, tail: "" };
}
