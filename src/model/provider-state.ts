// What a provider wants back with its next request: signed or encrypted reasoning, ids of its items. Kept in the message, unseen.

import { z } from "zod";

import type { Message, Part } from "../protocol/task/message.ts";

const Metadata = z.record(z.string(), z.record(z.string(), z.json()));
export type Metadata = z.infer<typeof Metadata>;

/** Only what survives storage; empty when a provider sends something else. */
export function readMetadata(value: unknown): Metadata {
  if (value === undefined || value === null) return {};
  const stored: unknown = JSON.parse(JSON.stringify(value));
  return Metadata.safeParse(stored).data ?? {};
}

const Item = z.discriminatedUnion("type", [
  z.object({ type: z.literal("reasoning"), text: z.string(), metadata: Metadata.optional() }),
  /** The next text part of the message. */
  z.object({ type: z.literal("text"), metadata: Metadata.optional() }),
  z.object({ type: z.literal("call"), tool_call_id: z.string(), metadata: Metadata.optional() }),
]);
export type StateItem = z.infer<typeof Item>;

const ProviderState = z.object({
  provider_state: z.object({ model: z.string(), items: z.array(Item) }),
});
type ProviderState = z.infer<typeof ProviderState>;

/**
 * Adds the state as a part that people are not shown; nothing when the provider gave none. It stands first, so that its
 * place, and with it the mark, stays right when parts after it are sorted or dropped.
 */
export function withState(message: Message, model: string, items: readonly StateItem[]): Message {
  if (items.every(({ metadata }) => metadata === undefined)) return message;
  const data: ProviderState = { provider_state: { model, items: [...items] } };
  return {
    ...message,
    parts: [{ part_type: "data", data }, ...message.parts],
    parts_metadata: { 0: { save: true, developer: true } },
  };
}

/** Only the model that gave it understands it: any other gets the conversation without. */
export function stateFor(message: Pick<Message, "parts">, model: string): readonly StateItem[] | undefined {
  for (const part of message.parts) {
    if (!isState(part)) continue;
    const read = ProviderState.safeParse(part.data);
    if (read.success && read.data.provider_state.model === model) return read.data.provider_state.items;
  }
  return undefined;
}

export function isState(part: Part): boolean {
  if (part.part_type !== "data") return false;
  return typeof part.data === "object" && part.data !== null && "provider_state" in part.data;
}
