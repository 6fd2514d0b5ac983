// What a session really did, by the log: how many tool calls it made, and which commands were among them.

import { z } from "zod";

import { argvLine } from "../../protocol/argv-line.ts";
import type { CompleteMessage, Message } from "../../protocol/task/message.ts";

export const Effort = z.object({ calls: z.int().nonnegative(), commands: z.array(z.string()) });
export type Effort = z.infer<typeof Effort>;

const mostCommands = 500;
const longestCommand = 500;

const RunInput = z.object({ argv: z.array(z.string()).nullish(), shell: z.string().nullish() });

/** Of an agent of this process, whose calls are parts of its messages. */
export function effortIn(messages: readonly CompleteMessage[]): Effort {
  const calls = messages.flatMap(({ role, parts }) =>
    role === "assistant" ? parts.flatMap((part) => (part.part_type === "tool_call" ? [part.data] : [])) : [],
  );
  const commands = calls.flatMap(({ tool_name, input }) => {
    const read = tool_name === "run" ? RunInput.safeParse(input).data : undefined;
    return read === undefined ? [] : [read.shell ?? argvLine(read.argv ?? [])];
  });
  // The call with which an agent ends its task is no work.
  return { calls: calls.filter(({ tool_name }) => tool_name !== "final").length, commands: bounded(commands) };
}

const CommandInput = z.object({ command: z.union([z.string(), z.array(z.string())]) });
const TitleInput = z.object({ title: z.string() });

/** Of a coding agent, which tells of its calls while it works. */
export class EffortLog {
  readonly #calls = new Map<string, { isCommand: boolean; texts: Set<string> }>();

  /** Its calls are told as messages. */
  add({ role, parts }: Message): void {
    if (role !== "assistant") return;
    for (const part of parts) {
      if (part.part_type !== "tool_call") continue;
      const { tool_call_id, tool_name, input } = part.data;
      const call = this.#calls.get(tool_call_id) ?? { isCommand: false, texts: new Set() };
      this.#calls.set(tool_call_id, call);
      const command = CommandInput.safeParse(input).data?.command;
      if (tool_name === "execute" || command !== undefined) call.isCommand = true;
      const title = TitleInput.safeParse(input).data?.title;
      if (title !== undefined) call.texts.add(title);
      if (command !== undefined) call.texts.add(typeof command === "string" ? command : argvLine(command));
    }
  }

  get effort(): Effort {
    const commands = [...this.#calls.values()].flatMap(({ isCommand, texts }) => (isCommand ? [...texts] : []));
    return { calls: this.#calls.size, commands: bounded(commands) };
  }
}

function bounded(commands: readonly string[]): string[] {
  return commands.slice(0, mostCommands).map((command) => command.slice(0, longestCommand));
}
