// The tool `read_result`: pages through a result that was too large to be shown whole. The record holds all of it.

import { z } from "zod";

import { pageOf, resultText } from "../../core/preview.ts";
import { TuttiError } from "../../protocol/error.ts";
import type { CompleteMessage } from "../../protocol/task/message.ts";
import { durableTool } from "./tool.ts";

export const readResult = durableTool({
  name: "read_result",
  description: "Shows more of a large result of an earlier call, from a character on.",
  input: () =>
    z.strictObject({
      id: z.string().min(1).describe("The id given where the result was cut."),
      offset: z.int().nonnegative().nullish().describe("From which character on; 0 when absent."),
    }),
  effects: ["read"],
  waits: false,
  async run({ id, offset }, { durable }) {
    const text = wholeResult(await durable.messages(), id) ?? wholeResult(await durable.history(), id);
    if (text === undefined) throw new TuttiError("not_found", `there is no result ${id} in this task`);
    const page = pageOf(text, offset ?? 0);
    if (!page.ok) return `[the result ${id} has ${page.total} characters; there is nothing at ${offset ?? 0}]`;
    const { from, to, total } = page;
    const next = to < total ? `; go on at offset ${to}` : "; this is its end";
    return `[characters ${from} to ${to} of ${total} of the result ${id}${next}]\n${page.text}`;
  },
});

/** The latest result with that id: a provider that numbers the calls of each reply uses an id more than once. */
function wholeResult(messages: readonly CompleteMessage[], id: string): string | undefined {
  for (const message of messages.toReversed()) {
    for (const part of message.parts) {
      if (part.part_type === "tool_result" && part.data.tool_call_id === id) return resultText(part.data);
    }
  }
  return undefined;
}
