// What is shortened when a conversation comes near its limit: old results first, then old turns. The record keeps all of it.

import type { CompleteMessage, Part } from "../../protocol/task/message.ts";
import { mentionedIds } from "./mentioned-ids.ts";
import { sizeOf } from "./model-view.ts";
import { partText } from "./part-text.ts";

/** Shortening begins at this share of what the model can take, and old turns are folded if masking leaves more than the second. */
const beginAt = 0.75;
const enoughAt = 0.55;
/** What saves less than this share is not worth a prompt cache that no longer fits, and is left for later. */
const worthwhile = 0.1;
/** The share the newest turns may take when the rest is folded. */
const tailShare = 0.25;
const charactersPerToken = 4;
/** Messages at the end that are never masked, and results so short that masking saves nothing. */
const keepRecent = 8;
const shortResult = 500;
const mostIds = 20;

export interface Measured {
  readonly tokens: number;
  readonly size: number;
}

const nothingMeasured: Measured = { tokens: 0, size: 0 };

/** From what the provider counted when it did, and from there on by characters. */
export function tokensOf(size: number, measured: Measured | undefined): number {
  const { tokens, size: counted } = measured ?? nothingMeasured;
  return Math.max(0, tokens + Math.ceil((size - counted) / charactersPerToken));
}

export function isNearLimit(tokens: number, limit: number): boolean {
  return tokens > limit * beginAt;
}

export function isStillLarge(tokens: number, limit: number): boolean {
  return tokens > limit * enoughAt;
}

/** Results before this place may be masked. */
export function maskPlace(view: readonly CompleteMessage[]): number {
  return Math.max(0, view.length - keepRecent);
}

/** The first message that stays when all before it is folded: never a result without its call. */
export function foldPlace(view: readonly CompleteMessage[], limit: number): number {
  const room = limit * tailShare * charactersPerToken;
  let place = view.length;
  let size = 0;
  for (let index = view.length - 1; index > 1; index -= 1) {
    const message = view[index];
    if (message === undefined) break;
    size += sizeOf([message]);
    // The newest turn stays whatever its size: the model has not answered to it yet.
    if (size > room && place < view.length) break;
    if (message.role === "assistant") place = index;
  }
  return place;
}

export function isWorthwhile(saved: number, limit: number): boolean {
  return saved / charactersPerToken >= limit * worthwhile;
}

export function masked(view: readonly CompleteMessage[], upTo: number): CompleteMessage[] {
  return view.map((message, index) => (index < upTo && message.role === "tool" ? maskedMessage(message) : message));
}

export function folded(
  view: readonly CompleteMessage[],
  upTo: number,
  kept: { readonly opening: CompleteMessage; readonly summary: CompleteMessage },
): CompleteMessage[] {
  return [kept.opening, kept.summary, ...view.slice(upTo)];
}

function maskedMessage(message: CompleteMessage): CompleteMessage {
  const parts = message.parts.map((part): Part => {
    if (part.part_type !== "tool_result") return part;
    const text = partText(part);
    if (text.length < shortResult) return part;
    const call = JSON.stringify({ id: part.data.tool_call_id });
    const ids = mentionedIds(text).slice(-mostIds);
    const kept = ids.length === 0 ? "" : ` Ids in it: ${ids.join(", ")}.`;
    const note = `[${text.length} characters left out to save space; read_result ${call} shows the result again.${kept}]`;
    return { ...part, data: { ...part.data, parts: [{ part_type: "text", data: note }] } };
  });
  return { ...message, parts };
}
