// One call of a tool whose code only the processes of a program have, as a step: one of them makes it, at most once unless it may be repeated.

import { messageId } from "../../core/message-id.ts";
import type { Attendants, Durable } from "../../ports.ts";
import { TuttiError } from "../../protocol/error.ts";
import type { AttendedTool } from "../../protocol/invocation/attended.ts";
import type { CompleteMessage, ToolCall } from "../../protocol/task/message.ts";
import { whenAttended } from "../when-attended.ts";
import { RecordedMessage } from "./plain-message.ts";
import { toolMessage } from "./tool-result.ts";

/** The process ends a call itself at its time limit; this much later it counts as hanging. */
const graceMs = 30_000;

export async function callAttended(
  durable: Durable,
  attendants: Attendants | undefined,
  { call, key, attended }: { readonly call: ToolCall; readonly key: string; readonly attended: AttendedTool },
): Promise<CompleteMessage> {
  const { tool_name: name, input } = call;
  if (attendants === undefined) {
    throw new TuttiError("refused", `no process of a program can attend this run, so ${name} cannot be called`);
  }
  const wanted = { kind: "tool", name } as const;
  const { repeatable, timeout_ms } = attended;
  const id = messageId(durable, key);
  const recorded = await whenAttended(durable, attendants, { key, wanted, repeatable }, (own) =>
    durable.step(
      own,
      // Repeating the step is asking the same process again about the same call.
      { repeatable: true, schema: RecordedMessage, owned: true, input: [name, input], event: "message.added" },
      async (step) => {
        const outcome = await attendants.call(
          {
            tree: durable.root,
            wanted,
            order: (made) => ({ kind: "tool", call: made, name, input }),
            withinMs: timeout_ms + graceMs,
            live: (_, text) => step.live("output", text),
          },
          step,
        );
        const { name: from, role, parts } = toolMessage(call, outcome);
        return { id, name: from, role, parts, created_at: step.now() };
      },
    ),
  );
  return RecordedMessage.parse(recorded);
}
