// State that a provider needs back with the next request, such as signed reasoning. Kept in the message, not shown to people.

import { z } from "zod";

import type { Message, Part } from "../protocol/task/message.ts";

const Metadata = z.record(z.string(), z.record(z.string(), z.json()));
export type Metadata = z.infer<typeof Metadata>;

/** The metadata as JSON keeps it; empty when a provider sends another shape. */
export function readMetadata(value: unknown): Metadata {
  if (value === undefined || value === null) return {};
  const stored: unknown = JSON.parse(JSON.stringify(value));
  return Metadata.safeParse(stored).data ?? {};
}

const Item = z.discriminatedUnion("type", [
  z.object({ type: z.literal("reasoning"), text: z.string(), metadata: Metadata.optional() }),
  /** Stands for the next text part of the message. */
  z.object({ type: z.literal("text"), metadata: Metadata.optional() }),
  z.object({ type: z.literal("call"), tool_call_id: z.string(), metadata: Metadata.optional() }),
]);
export type StateItem = z.infer<typeof Item>;

const ProviderState = z.object({
  provider_state: z.object({ model: z.string(), items: z.array(Item) }),
});
type ProviderState = z.infer<typeof ProviderState>;

/**
 * Adds the state as a part that people are not shown, unless the provider gave none. It is the first part, so that its
 * index in `parts_metadata` stays right when later parts are sorted or dropped.
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

/** The state of this model; undefined when the message has none or it belongs to another model, which could not use it. */
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
