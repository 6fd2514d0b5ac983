// One run as the program holds it: what it streams, how it ends, what it asks, and how it is stopped.

import type { Tutti } from "../client/client.ts";
import { TuttiError } from "../protocol/error.ts";
import type { AgentResult } from "../protocol/invocation/invocation-result.ts";
import type { StandardSchema } from "../agent/tools/define-tool.ts";
import { openAsks, runAsk } from "./run-asks.ts";
import type { AgentTool } from "./code-agent.ts";
import { followRun, type PlainPart } from "./run-parts.ts";
import type { Run, RunPart, StreamOptions, ToolCallPart, ToolResultPart } from "./opened-tutti.ts";
import { errorOf, type RunOutcome } from "./run-outcome.ts";
import { readWith } from "./read-schema.ts";
import { uiResponse } from "./ui-stream.ts";

type RunClient = Pick<Tutti, "follow" | "asks" | "ask" | "answer" | "cancel">;

export interface RunParts<Output> {
  readonly client: RunClient;
  readonly task: string;
  readonly existed: boolean;
  readonly tools: readonly AgentTool[];
  /** The result of the agent itself, whatever is above its task. */
  readonly result: (signal?: AbortSignal) => Promise<AgentResult>;
  readonly read: (content: unknown) => Promise<Output>;
  readonly send: (text: string) => Promise<unknown>;
}

export function codeRun<Output, Tools extends readonly AgentTool[]>(parts: RunParts<Output>): Run<Output, Tools> {
  const { client, task, existed } = parts;
  const outcome = (signal?: AbortSignal): Promise<RunOutcome<Output>> => outcomeOf(parts, signal);
  return {
    task,
    existed,
    outcome: () => outcome(),
    async result() {
      const ended = await outcome();
      if (ended.status === "completed") return ended.output;
      throw ended.error;
    },
    stream: (options = {}) => streamOf<Output, Tools>(parts, options),
    parts: (options = {}) => plainParts({ client, task }, options, { live: false }),
    asks: () => openAsks(client, task),
    async send(text) {
      await parts.send(text);
    },
    async cancel(reason = "the program canceled it") {
      await client.cancel(task, reason);
    },
    toResponse: (init) =>
      uiResponse({ task, outcome, parts: (following) => plainParts({ client, task }, following) }, init),
  };
}

/** A result that does not fit the schema is an error too: what was recorded may be older than the program. */
export async function outcomeOf<Output>(
  { result, read }: Pick<RunParts<Output>, "result" | "read">,
  signal?: AbortSignal,
): Promise<RunOutcome<Output>> {
  const ended = await result(signal);
  const { status, task_id: task } = ended;
  if (status !== "completed") return { status: status === "canceled" ? status : "failed", error: errorOf(ended), task };
  try {
    return { status, output: await read(ended.content), task };
  } catch (thrown) {
    if (thrown instanceof TuttiError) return { status: "failed", error: thrown, task };
    throw thrown;
  }
}

/** Without a schema the result is text. */
export function outputReader(schema: StandardSchema | undefined, name: string): (content: unknown) => Promise<unknown> {
  if (schema !== undefined) return (content) => readWith(schema, content, `the result of ${name}`);
  return async (content) => {
    if (content === null) return "";
    return typeof content === "string" ? content : JSON.stringify(content);
  };
}

const terminal: ReadonlySet<string> = new Set(["task.completed", "task.failed", "task.canceled"]);

/** The parts until the task of the run has ended; tasks below it may go on. */
export async function* plainParts(
  { client, task }: Pick<RunParts<unknown>, "client" | "task">,
  options: StreamOptions,
  { live = true }: { readonly live?: boolean } = {},
): AsyncGenerator<PlainPart> {
  const { signal, after } = options;
  const feed = client.follow({
    task,
    live,
    ...(signal === undefined ? {} : { signal }),
    ...(after === undefined ? {} : { after }),
  });
  for await (const part of followRun(feed)) {
    yield part;
    if (part.type === "event" && part.event.task === task && terminal.has(part.event.type)) return;
  }
}

async function* streamOf<Output, Tools extends readonly AgentTool[]>(
  run: RunParts<Output>,
  options: StreamOptions,
): AsyncGenerator<RunPart<Output, Tools>> {
  for await (const part of plainParts(run, options)) {
    if (part.type === "ask") yield { type: "ask", ask: runAsk(run.client, part.ask) };
    else if (part.type !== "tool-call" && part.type !== "tool-result") yield part;
    else {
      const fits = await fitsTool(part, run.tools);
      if (isTyped<Tools>(part, fits)) yield part;
    }
  }
  if (options.signal?.aborted === true) return;
  yield { type: "end", outcome: await outcomeOf(run, options.signal) };
}

type ToolPart = Extract<PlainPart, { type: "tool-call" | "tool-result" }>;

/** What was checked by the schema of the tool has its types. */
function isTyped<Tools extends readonly AgentTool[]>(
  part: ToolPart,
  fits: boolean,
): part is ToolPart & (ToolCallPart<Tools> | ToolResultPart<Tools>) {
  return fits && part.tool !== "";
}

/** Only calls that fit the schema of one of the agent's own tools are among the parts; the others are in the transcript. */
async function fitsTool(part: ToolPart, tools: readonly AgentTool[]): Promise<boolean> {
  const found = tools.find((each) => typeof each !== "string" && each.name === part.tool);
  if (found === undefined || typeof found === "string") return false;
  if (part.type === "tool-result") return true;
  const read = await found.input["~standard"].validate(part.input);
  return read.issues === undefined;
}
