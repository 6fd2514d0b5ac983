// What was said and done in a run, for assertions: texts and calls in order, each with who said or made it.

import { isDeepStrictEqual } from "node:util";

import type { Run } from "../opened-tutti.ts";
import type { AgentTool } from "../code-agent.ts";

export interface TranscriptCall {
  readonly agent: string;
  readonly tool: string;
  readonly input: unknown;
  /** What the model was given; the message of the error when the call failed. Undefined when there is no result yet. */
  readonly output: unknown;
  readonly failed: boolean;
}

export interface Transcript {
  /** The texts of the agents, one for each reply that has one. */
  readonly texts: readonly { readonly agent: string; readonly text: string }[];
  readonly calls: readonly TranscriptCall[];
  /** The calls of one tool. */
  callsOf(tool: string): readonly TranscriptCall[];
  /** One line for each text and call, for messages and snapshots. */
  toString(): string;
}

/** Waits until the run has ended. */
export async function transcriptOf<Output, Tools extends readonly AgentTool[]>(
  run: Run<Output, Tools>,
): Promise<Transcript> {
  const texts: { agent: string; text: string }[] = [];
  const calls: (TranscriptCall & { id: string; task: string })[] = [];
  const lines: string[] = [];
  for await (const part of run.parts()) {
    if (part.type === "text") {
      texts.push({ agent: part.agent, text: part.text });
      lines.push(`${part.agent}: ${part.text}`);
    } else if (part.type === "tool-call") {
      const { agent, task, tool, input, id } = part;
      calls.push({ agent, task, tool, input, id, output: undefined, failed: false });
      lines.push(`${agent} calls ${tool} ${JSON.stringify(input)}`);
    } else if (part.type === "tool-result") {
      const made = calls.findLast((each) => each.id === part.id && each.task === part.task);
      const output = part.ok ? part.output : part.error;
      if (made !== undefined) Object.assign(made, { output, failed: !part.ok });
      lines.push(`${part.tool} ${part.ok ? "returns" : "fails with"} ${JSON.stringify(output)}`);
    }
  }
  return {
    texts,
    calls,
    callsOf: (tool) => calls.filter((each) => each.tool === tool),
    toString: () => lines.join("\n"),
  };
}

/** Throws an error with the whole transcript unless the tool was called; with these arguments when they are given. */
export function assertCalled(transcript: Transcript, tool: string, input?: unknown): void {
  const made = transcript.callsOf(tool);
  if (input === undefined ? made.length > 0 : made.some((each) => isDeepStrictEqual(each.input, input))) return;
  const wanted = input === undefined ? tool : `${tool} with ${JSON.stringify(input)}`;
  throw new Error(`${wanted} was not called. The transcript:\n${transcript.toString()}`);
}
