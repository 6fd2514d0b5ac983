// Decides what is left out of a conversation near the model's limit: old results first, then old turns. The record is kept.

import type { CompleteMessage, Part } from "../../protocol/task/message.ts";
import { mentionedIds } from "../../core/mentioned-ids.ts";
import { sizeOf } from "./model-view.ts";
import { partText } from "./part-text.ts";

/** Shortening begins at this share of the limit. If masking leaves more than the second share, old turns are folded too. */
const beginAt = 0.75;
const enoughAt = 0.55;
/** What saves less than this share of the limit is left for later: every change of old messages invalidates the prompt cache. */
const worthwhile = 0.1;
/** The share of the limit that the newest turns may take when the rest is folded. */
const tailShare = 0.25;
export const charactersPerToken = 4;
/** How many messages at the end are never masked. */
const keepRecent = 8;
/** Shorter results are not masked, since that would save nothing. */
const shortResult = 500;
const mostIds = 20;

/** Tokens as the provider counted them, for a conversation of this size. */
export interface MeasuredTokens {
  readonly tokens: number;
  readonly size: number;
}

const nothingMeasured: MeasuredTokens = { tokens: 0, size: 0 };

/** The tokens of a conversation of `size` characters: the provider's count so far, and an estimate for what was added since. */
export function estimateTokens(size: number, measured: MeasuredTokens | undefined): number {
  const { tokens, size: counted } = measured ?? nothingMeasured;
  return Math.max(0, tokens + Math.ceil((size - counted) / charactersPerToken));
}

export function isNearLimit(tokens: number, limit: number): boolean {
  return tokens > limit * beginAt;
}

export function isStillLarge(tokens: number, limit: number): boolean {
  return tokens > limit * enoughAt;
}

/** Results before this index may be masked. */
export function maskEnd(view: readonly CompleteMessage[]): number {
  return Math.max(0, view.length - keepRecent);
}

/** The index of the first message that stays when all before it are folded. It is a reply, so no result loses its call. */
export function foldEnd(view: readonly CompleteMessage[], limit: number): number {
  const room = limit * tailShare * charactersPerToken;
  let end = view.length;
  let size = 0;
  for (let index = view.length - 1; index > 1; index -= 1) {
    const message = view[index];
    if (message === undefined) break;
    size += sizeOf([message]);
    // The newest turn stays whatever its size: the model has not answered it yet.
    if (size > room && end < view.length) break;
    if (message.role === "assistant") end = index;
  }
  return end;
}

/** Whether leaving out this many characters is worth it. */
export function isWorthwhile(saved: number, limit: number): boolean {
  return saved / charactersPerToken >= limit * worthwhile;
}

export function maskResults(view: readonly CompleteMessage[], upTo: number): CompleteMessage[] {
  return view.map((message, index) => (index < upTo && message.role === "tool" ? maskedMessage(message) : message));
}

export function foldTurns(
  view: readonly CompleteMessage[],
  upTo: number,
  kept: { readonly opening: readonly CompleteMessage[]; readonly summary: CompleteMessage },
): CompleteMessage[] {
  return [...kept.opening, kept.summary, ...view.slice(upTo)];
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
