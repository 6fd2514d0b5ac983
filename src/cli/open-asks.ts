// What waits for an answer: questions, approvals, budget asks, and calls of tools that the client carries out itself.
import type { Reader } from "../client/client.ts";
import type { OpenAsk, OpenWait } from "../protocol/api/task-shapes.ts";
import { TuttiError } from "../protocol/error.ts";
import type { AskId, TaskId } from "../protocol/ids.ts";
import { printable } from "./terminal/printable.ts";

export interface OpenAsks {
  readonly asks: readonly OpenAsk[];
  readonly waits: readonly OpenWait[];
}

/** Of the task and all below it; of every task when absent. A list has only beginnings, so each ask is read by itself. */
export async function readOpenAsks(reader: Reader, task?: TaskId): Promise<OpenAsks> {
  const [asks, waits]: [OpenAsk[], OpenWait[]] = [[], []];
  for (const { id } of await reader.asks(task)) asks.push(...(await ifOpen(() => reader.ask(id))));
  for (const { id } of await reader.waits(task)) waits.push(...(await ifOpen(() => reader.wait(id))));
  return { asks, waits };
}

/** Undefined when nothing of this id is open. */
export async function findOpenAsk(reader: Reader, id: AskId): Promise<OpenAsk | OpenWait | undefined> {
  const [ask = (await ifOpen(() => reader.wait(id)))[0]] = await ifOpen(() => reader.ask(id));
  return ask;
}

/** Nothing when it is not open, or no longer. */
async function ifOpen<T>(read: () => Promise<T>): Promise<T[]> {
  try {
    return [await read()];
  } catch (thrown) {
    if (thrown instanceof TuttiError && thrown.code === "not_found") return [];
    throw thrown;
  }
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
