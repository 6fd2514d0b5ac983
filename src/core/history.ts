// What a child with inherited context sees of its caller's conversation.

import { TuttiError } from "../protocol/error.ts";
import { keepParts, type CompleteMessage, type Message } from "../protocol/task/message.ts";

/**
 * The caller's history without unfinished tool calls: a call without a result after it and a result without a call before
 * it are left out, and so are messages that have no part left. It is taken once per invocation, so that all children see
 * the same. Parallel children would otherwise see the calls that started them and their siblings, without results:
 * providers refuse such a history, and models imitate it.
 */
export function snapshotHistory<T extends Message>(messages: readonly T[]): T[] {
  if (!messages.some(hasToBeLookedAt)) return [...messages];
  const paired = pairedParts(messages);
  return messages
    .map((message, at) =>
      keepParts(message, (part, index) => {
        if (part.part_type !== "tool_call" && part.part_type !== "tool_result") return true;
        return paired[at]?.has(index) === true;
      }),
    )
    .filter((message) => message.parts.length > 0);
}

function hasToBeLookedAt({ parts }: Message): boolean {
  return parts.length === 0 || parts.some(({ part_type: type }) => type === "tool_call" || type === "tool_result");
}

/** A child's own copy of a snapshot, with new message ids, since an id names one message; `newId` must never repeat one. */
export function inheritHistory(
  snapshot: readonly CompleteMessage[],
  newId: (message: CompleteMessage, index: number) => string,
): CompleteMessage[] {
  const used = new Set(snapshot.map((message) => message.id));
  return snapshot.map((message, index) => {
    const id = newId(message, index);
    if (used.has(id)) throw new TuttiError("internal", `the message id ${id} is already in use; ids must be new`);
    used.add(id);
    return { ...message, id };
  });
}

/**
 * For each message, the indexes of its calls that have a result and of its results that have a call. A result belongs to
 * the nearest open call with its id before it, so an id may be used again in a later turn.
 */
function pairedParts(messages: readonly Message[]): readonly ReadonlySet<number>[] {
  const paired = messages.map(() => new Set<number>());
  const open = new Map<string, { readonly at: number; readonly index: number }[]>();
  messages.forEach((message, at) => {
    message.parts.forEach((part, index) => {
      if (part.part_type === "tool_call") {
        const calls = open.get(part.data.tool_call_id);
        if (calls === undefined) open.set(part.data.tool_call_id, [{ at, index }]);
        else calls.push({ at, index });
      } else if (part.part_type === "tool_result") {
        const call = open.get(part.data.tool_call_id)?.pop();
        if (call === undefined) return;
        paired[call.at]?.add(call.index);
        paired[at]?.add(index);
      }
    });
  });
  return paired;
}
