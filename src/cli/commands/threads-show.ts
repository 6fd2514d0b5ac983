// `tutti threads show`: prints what was said in a thread, with the ids of the messages that it can be forked at.
import type { Reader } from "../../client/client.ts";
import type { Host } from "../../host/host.ts";
import type { ThreadMessagePage } from "../../protocol/api/thread-shapes.ts";
import { messageText, type Part } from "../../protocol/task/message.ts";
import { withReader } from "../connect.ts";
import { findThread } from "../find-thread.ts";
import { oneLine } from "../terminal/printable.ts";
import { writeJson, writeLine } from "../terminal/screen.ts";
import { bold, dim } from "../terminal/style.ts";

export interface ThreadsShowOptions {
  readonly state?: string;
  readonly json?: boolean;
}

/** How much of a call or a result is shown. */
const longestCall = 200;

export async function threadsShowCommand(host: Host, given: string, options: ThreadsShowOptions): Promise<void> {
  await withReader(host, options, async (reader) => {
    const { id } = await findThread(reader, given);
    for await (const { task, message } of allMessages(reader, id)) {
      if (options.json === true) {
        await writeJson({ task, message });
        continue;
      }
      await writeLine(`${bold(message.agent_id ?? message.role)} ${dim(message.id)}`);
      const text = messageText(message);
      if (text !== "") await writeLine(indented(text));
      for (const line of message.parts.flatMap(callLine)) await writeLine(dim(indented(line)));
    }
  });
}

async function* allMessages(reader: Reader, thread: string): AsyncGenerator<ThreadMessagePage["messages"][number]> {
  for (let cursor: string | null | undefined; cursor !== null;) {
    const page: ThreadMessagePage = await reader.threadMessages(thread, cursor === undefined ? {} : { cursor });
    yield* page.messages;
    cursor = page.next;
  }
}

function callLine(part: Part): string[] {
  if (part.part_type === "tool_call") return [`${part.data.tool_name} ${shown(part.data.input)}`];
  if (part.part_type === "tool_result") return [`→ ${shown(part.data.parts.map(({ data }) => data))}`];
  return [];
}

function shown(value: unknown): string {
  return oneLine(JSON.stringify(value) ?? "", longestCall);
}

function indented(text: string): string {
  return text
    .split("\n")
    .map((line) => `  ${line}`)
    .join("\n");
}
