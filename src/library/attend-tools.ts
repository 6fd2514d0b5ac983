// Carries out the calls that a run in a daemon makes of this program's tools, and gives the daemon their results.

import type { Tutti } from "../client/client.ts";
import { thrownMessage, TuttiError } from "../protocol/error.ts";
import type { Answerer } from "../protocol/task/ask.ts";
import type { CodeTool } from "./code-tool.ts";
import { readWith } from "./read-schema.ts";
import type { StartedRun } from "./run-source.ts";

interface Attending extends StartedRun {
  readonly tools: ReadonlyMap<string, CodeTool>;
  readonly signal: AbortSignal;
  /** The calls that this process has taken, by whichever run object: none is carried out or given up a second time. */
  readonly taken: Set<string>;
}

type WaitClient = Pick<Tutti, "follow" | "wait" | "waits" | "settle">;

const program: Answerer = { kind: "person", name: "program" };
const defaultMs = 60_000;

/** Ends with the run, or with the signal. */
export async function attendTools(client: WaitClient, attending: Attending): Promise<void> {
  const { task, existed, tools, signal, taken } = attending;
  const carryOut = async (wait: string, isLate: boolean): Promise<void> => {
    if (taken.has(wait)) return;
    taken.add(wait);
    const call = await openCall(client, wait);
    const tool = call === undefined ? undefined : tools.get(call.tool_name);
    if (call === undefined || tool === undefined) return;
    // A process before this one may have begun the call and died, so that nobody knows whether it was carried out (invariant 1).
    const value = isLate && !tool.repeatable ? unknownOutcome : await outcomeOf(tool, call.input, { wait, signal });
    if (!signal.aborted) await client.settle(wait, value, program);
  };
  const left = (thrown: unknown): void => {
    if (!signal.aborted) throw thrown;
  };
  const work: Promise<void>[] = (await client.waits(task)).map(({ id }) => carryOut(id, existed).catch(left));
  try {
    for await (const each of client.follow({ task, signal })) {
      if (!("event" in each) || each.event.type !== "wait.opened" || each.event.data.call === undefined) continue;
      work.push(carryOut(each.event.data.wait, false).catch(left));
    }
  } catch (thrown) {
    left(thrown);
  }
  await Promise.all(work);
}

const unknownOutcome = {
  error: {
    code: "outcome_unknown",
    message: "the call may have been carried out by a process that has ended; look before you call it again",
  },
};

/** Undefined when it was settled in the meantime. */
async function openCall(client: WaitClient, wait: string) {
  try {
    return (await client.wait(wait)).call;
  } catch (thrown) {
    if (thrown instanceof TuttiError && thrown.code === "not_found") return undefined;
    throw thrown;
  }
}

/** A failure is told to the model, as a tool that runs in the daemon would tell it. */
async function outcomeOf(
  tool: CodeTool,
  input: unknown,
  { wait, signal }: { readonly wait: string; readonly signal: AbortSignal },
): Promise<unknown> {
  if (tool.approval === "refuse") return failure("refused", `calls of ${tool.name} are refused`);
  const limit = AbortSignal.any([signal, AbortSignal.timeout(tool.timeoutMs ?? defaultMs)]);
  try {
    const read = await readWith(tool.input, input, "the arguments");
    const late = new Promise<never>((_, reject) => limit.addEventListener("abort", () => reject(limit.reason)));
    // The limit may pass after the call has ended.
    late.catch(() => undefined);
    const context = { signal: limit, key: wait, roots: [], progress: () => undefined };
    const outcome = await Promise.race([tool.run(read, context), late]);
    return typeof outcome === "string" ? outcome : JSON.parse(JSON.stringify(outcome) ?? "null");
  } catch (thrown) {
    const code = thrown instanceof TuttiError ? thrown.code : "step_failed";
    return failure(code, `the tool ${tool.name} failed: ${thrownMessage(thrown)}`);
  }
}

function failure(code: string, message: string): unknown {
  return { error: { code, message } };
}
