// `tutti message`: says something to a task; it hears it at its next turn.
import type { Host } from "../../host/host.ts";
import { TuttiError } from "../../protocol/error.ts";
import type { TaskId } from "../../protocol/ids.ts";
import { readText } from "../input.ts";
import { writeLine } from "../terminal/output.ts";
import { withDaemon } from "../connect.ts";

export interface MessageOptions {
  readonly state?: string;
  readonly json?: boolean;
  readonly limit: number;
}

export async function messageCommand(
  host: Host,
  task: TaskId,
  { words, options }: { readonly words: readonly string[]; readonly options: MessageOptions },
): Promise<void> {
  const given = words.join(" ");
  const text = given === "-" ? await readText("-", options.limit) : given;
  if (text.trim() === "") throw new TuttiError("usage", "the message is blank; say something, or - for standard input");
  const place = { state: options.state, json: options.json };
  await withDaemon(host, { ...place, check: (reader) => reader.task(task) }, async (tutti) => {
    await tutti.sendMessage(task, text);
    await writeLine(options.json === true ? JSON.stringify({ told: true, task }) : `${task} hears it at its next turn`);
  });
}
