// What a message of a thread says: its text, and the answer with which an agent ended its task.

import type { TaskEvent } from "../../../../src/client/index.ts";

type Message = Extract<TaskEvent, { type: "message.added" }>["data"]["message"];

/** Other calls and their results stand in the transcript of the task. */
export function saidText({ parts }: Pick<Message, "parts">): string {
  return parts
    .flatMap((part) => {
      if (part.part_type === "text") return [part.data];
      if (part.part_type !== "tool_call" || part.data.tool_name !== "final") return [];
      const { input } = part.data;
      const content: unknown = typeof input === "object" && input !== null ? Reflect.get(input, "content") : input;
      return [typeof content === "string" ? content : (JSON.stringify(content, null, 2) ?? "")];
    })
    .join("\n\n")
    .trim();
}
