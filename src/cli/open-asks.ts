// What waits for an answer: questions, approvals, budget asks, and calls of tools that the client carries out itself.
import type { Reader } from "../client/client.ts";
import type { OpenAsk, OpenWait } from "../protocol/api/task-shapes.ts";
import type { TaskId } from "../protocol/ids.ts";
import { printable } from "./terminal/printable.ts";

export interface OpenAsks {
  readonly asks: readonly OpenAsk[];
  readonly waits: readonly OpenWait[];
}

/** Of the task and all below it; of every task when absent. */
export async function readOpenAsks(reader: Reader, task?: TaskId): Promise<OpenAsks> {
  const [asks, waits] = await Promise.all([reader.asks(task), reader.waits(task)]);
  return { asks, waits };
}

/** In one line. */
export function describeAsk(open: OpenAsk | OpenWait): string {
  return printable(fullText(open)).replaceAll(/\s+/g, " ");
}

function fullText(open: OpenAsk | OpenWait): string {
  if ("kind" in open) {
    const choices = open.choices === undefined ? "" : ` (${open.choices.join(" | ")})`;
    return `${open.kind}: ${open.question}${choices}`;
  }
  const { call, label } = open;
  return call === undefined ? label : `external tool: ${call.tool_name} ${JSON.stringify(call.input)}`;
}
