// `tutti message`: sends a message to a task, which reads it at its next turn.
import type { Host } from "../../host/host.ts";
import { TuttiError } from "../../protocol/error.ts";
import type { TaskId } from "../../protocol/ids.ts";
import { withDaemon } from "../connect.ts";
import { readText } from "../input.ts";
import { writeLine } from "../terminal/screen.ts";

export interface MessageOptions {
  readonly state?: string;
  readonly json?: boolean;
  readonly limit: number;
}

export async function messageCommand(
  host: Host,
  { task, words }: { readonly task: TaskId; readonly words: readonly string[] },
  options: MessageOptions,
): Promise<void> {
  const { state, json, limit } = options;
  const typed = words.join(" ");
  const text = typed === "-" ? await readText("-", limit) : typed;
  if (text.trim() === "")
    throw new TuttiError("usage", "the message is empty; write some text, or - for standard input");
  await withDaemon(host, { state, json, check: (reader) => reader.task(task) }, async (tutti) => {
    await tutti.sendMessage(task, text);
    await writeLine(json === true ? JSON.stringify({ sent: true, task }) : `${task} reads it at its next turn`);
  });
}
