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
  /** A call that could not be read is not in the message; its item has the id "". */
  z.object({ type: z.literal("call"), tool_call_id: z.string(), metadata: Metadata.optional() }),
]);
export type StateItem = z.infer<typeof Item>;

const StatePart = z.object({
  provider_state: z.object({
    model: z.string(),
    /** A hash of the request that the reply answered; absent where the state does not depend on it. */
    prefix: z.string().optional(),
    items: z.array(Item),
  }),
});
export type ProviderState = z.infer<typeof StatePart>["provider_state"];

/**
 * Adds the state as a part that people are not shown, unless there is nothing to send back. It is the first part, so that its
 * index in `parts_metadata` stays right when later parts are sorted or dropped.
 */
export function withState(message: Message, state: ProviderState): Message {
  if (state.items.every(({ type, metadata }) => type !== "reasoning" && metadata === undefined)) return message;
  return {
    ...message,
    parts: [{ part_type: "data", data: { provider_state: state } }, ...message.parts],
    parts_metadata: { 0: { save: true, developer: true } },
  };
}

/** A message does not change and is in every later request of its conversation, so its state is read once. */
const known = new WeakMap<Part, ProviderState | null>();

/** The state of this model; undefined when the message has none or it belongs to another model, which could not use it. */
export function stateFor(message: Pick<Message, "parts">, model: string): ProviderState | undefined {
  for (const part of message.parts) {
    if (!isState(part)) continue;
    const state = known.get(part) ?? StatePart.safeParse(part.data).data?.provider_state ?? null;
    known.set(part, state);
    if (state?.model === model) return state;
  }
  return undefined;
}

export function isState(part: Part): boolean {
  if (part.part_type !== "data") return false;
  return typeof part.data === "object" && part.data !== null && "provider_state" in part.data;
}
