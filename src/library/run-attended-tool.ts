// Runs one call of a tool of this program for a run in a daemon: with its schema, its time limit and its key.

import { thrownMessage, TuttiError } from "../protocol/error.ts";
import type { CodeTool } from "./code-tool.ts";
import { readWith } from "./read-schema.ts";

const defaultMs = 60_000;

export function timeLimitOf({ timeoutMs }: Pick<CodeTool, "timeoutMs">): number {
  return timeoutMs ?? defaultMs;
}

interface CallContext {
  readonly key: string;
  readonly signal: AbortSignal;
  readonly progress: (text: string) => void;
}

/** A failure is told to the model as a tool that runs in the daemon would tell it. */
export async function runAttendedTool(tool: CodeTool, input: unknown, context: CallContext): Promise<unknown> {
  const read = await readWith(tool.input, input, "the arguments");
  const ms = timeLimitOf(tool);
  const limit = new AbortController();
  const late = new TuttiError("deadline", `the tool ${tool.name} took longer than ${ms} ms`, { retry: "unknown" });
  const timer = setTimeout(() => limit.abort(late), ms);
  const signal = AbortSignal.any([context.signal, limit.signal]);
  try {
    const aborted = new Promise<never>((_, reject) => {
      signal.addEventListener("abort", () => reject(signal.reason), { once: true });
    });
    // The signal may be aborted after the call has ended.
    aborted.catch(() => undefined);
    const { key, progress } = context;
    return await Promise.race([tool.run(read, { signal, key, roots: [], progress }), aborted]);
  } catch (thrown) {
    if (thrown === late || context.signal.aborted) throw thrown;
    throw new TuttiError("step_failed", `the tool ${tool.name} failed: ${thrownMessage(thrown)}`, { cause: thrown });
  } finally {
    clearTimeout(timer);
  }
}
