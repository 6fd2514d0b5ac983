// The beginning of what a task was asked: what lists show of it, and what is stored beside a long record.

import { z } from "zod";

import { Message, messageText } from "../protocol/task/message.ts";

/** In characters. */
const longest = { agent: 64, prompt: 200 };
const mostAgents = 4;

/** Of an invocation: its targets. Of a goal: its words. Of any other task: the task itself is its only target. */
export const RequestBeginning = z.object({
  /** The names of the agents that were asked, each once, and not all if there are many. */
  agents: z.array(z.string()),
  targets: z.int().nonnegative(),
  /** The first line with text of the first target's message; empty when it begins with none. */
  prompt: z.string(),
});
export type RequestBeginning = z.infer<typeof RequestBeginning>;

const Target = z.object({ agent: z.object({ agent_id: z.string().optional() }), message: z.unknown() });
const Recorded = z.object({
  input: z.object({
    invocation: z.object({ targets: z.array(Target) }).optional(),
    message: z.unknown().optional(),
    goal: z.object({ text: z.string() }).optional().catch(undefined),
  }),
});

/** Of the record of a task. It may be any runner's, so nothing that is missing is an error. */
export function requestBeginning(record: string): RequestBeginning {
  const { data } = Recorded.safeParse(JSON.parse(record));
  const targets = data?.input.invocation?.targets;
  if (targets === undefined) {
    const { goal, message } = data?.input ?? {};
    return { agents: [], targets: 0, prompt: goal === undefined ? messageLine(message) : firstLine(goal.text) };
  }
  const named = new Set<string>();
  for (const { agent } of targets) {
    if (named.size < mostAgents) named.add(beginning(agent.agent_id ?? "ad hoc", longest.agent));
  }
  return { agents: [...named], targets: targets.length, prompt: messageLine(targets[0]?.message) };
}

function messageLine(message: unknown): string {
  const { data } = Message.safeParse(message);
  return data === undefined ? "" : firstLine(messageText(data));
}

function firstLine(text: string): string {
  const lines = text.slice(0, 10 * longest.prompt).split("\n");
  return beginning(lines.find((line) => line.trim() !== "")?.trim() ?? "", longest.prompt);
}

/** Does not end in the middle of a character. */
function beginning(text: string, length: number): string {
  return text.slice(0, length).replace(/[\ud800-\udbff]$/, "");
}
