// The text of a task's input: what a runner tells its program, and what a person is shown who decides about the runner.

import { z } from "zod";

import { Message, messageText } from "../../protocol/task/message.ts";

const HasMessage = z.object({ message: Message });

/** Of its message, or the input itself when that is a text or a message. */
export function inputText(input: unknown): string {
  if (typeof input === "string") return input;
  const held = HasMessage.safeParse(input);
  const message = held.success ? held : Message.safeParse(input);
  if (!message.success) return "";
  return messageText("message" in message.data ? message.data.message : message.data);
}
