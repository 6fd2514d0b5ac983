// Reads a reply whose end was held back while it streamed in, because it may hold calls without a fence.
import { callsToRun } from "./findings.ts";
import { scanReply, type ToolCallOptions } from "./scan-reply.ts";
import type { ParsedToolCall } from "./tool-call.ts";

export interface RestOfReply {
  /** All calls of the reply, also those before the place. */
  readonly calls: readonly ParsedToolCall[];
  /** The prose from the place on. */
  readonly prose: string;
  /** What is neither prose nor reasoning from the place on. */
  readonly leftOut: string;
  /** A call could not be read. */
  readonly isBroken: boolean;
}

/** Undefined if the reply has nothing that is written in a model's own dialect or as a call without a fence. */
export function readRest(text: string, options: ToolCallOptions, from: number): RestOfReply | undefined {
  const { findings, visible } = scanReply(text, options, () => []);
  const { dialectCalls, dialectBroken, dialectMarkup, violations } = findings;
  const isUnfenced = violations.some(({ kind }) => kind === "dialect_call" || kind === "bare_call");
  if (dialectCalls === undefined && !dialectBroken && !dialectMarkup && !isUnfenced) return undefined;
  let prose = "";
  let leftOut = "";
  let past = from;
  const { stretches } = visible;
  for (let index = 0; index < stretches.length; index += 3) {
    const start = stretches[index] ?? 0;
    const end = stretches[index + 1] ?? 0;
    if (end <= from) continue;
    leftOut += text.slice(past, Math.max(past, start));
    if (stretches[index + 2] === 0) prose += text.slice(Math.max(from, start), end);
    past = end;
  }
  const isBroken = findings.faults.length > 0;
  return { calls: callsToRun(findings), prose, leftOut: leftOut + text.slice(past), isBroken };
}
