// `tutti message`: sends a message to a task, which reads it at its next turn.
import type { Host } from "../../host/host.ts";
import { TuttiError } from "../../protocol/error.ts";
import { withDaemon } from "../connect.ts";
import { findTask } from "../find-id.ts";
import { readText } from "../input.ts";
import { writeJson, writeLine } from "../terminal/screen.ts";

export interface MessageOptions {
  readonly state?: string;
  readonly json?: boolean;
  readonly limit: number;
  readonly interrupt?: boolean;
}

export async function messageCommand(
  host: Host,
  { task: given, words }: { readonly task: string; readonly words: readonly string[] },
  options: MessageOptions,
): Promise<void> {
  const { state, json, limit, interrupt = false } = options;
  const typed = words.join(" ");
  const text = typed === "-" ? await readText("-", limit) : typed;
  if (text.trim() === "")
    throw new TuttiError("usage", "the message is empty; write some text, or - for standard input");
  await withDaemon(host, { state, json, check: (reader) => findTask(reader, given) }, async (tutti) => {
    const task = await tutti.sendMessage(await findTask(tutti, given), text, { interrupt });
    const when = interrupt ? "was interrupted and reads it now" : "reads it at its next turn";
    await (json === true ? writeJson({ sent: true, task }) : writeLine(`${task} ${when}`));
  });
}
