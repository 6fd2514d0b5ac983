// A message as a line of the log holds it: the line is the message itself, or has it as `message`.

import { CompleteMessage } from "../protocol/task/message.ts";

export function messageIn(body: string): CompleteMessage {
  const value: unknown = JSON.parse(body);
  const held = typeof value === "object" && value !== null && "message" in value ? value.message : value;
  return CompleteMessage.parse(held);
}
