// A run as the stream of one message that the AI SDK's UI hooks read: server-sent events, each with one chunk as JSON.

import type { RunOutcome } from "./run-outcome.ts";
import type { PlainPart } from "./run-parts.ts";
import type { StreamOptions } from "./opened-tutti.ts";

/** A chunk of the protocol; its `type` says which fields it has. */
type UiChunk = { readonly type: string } & Readonly<Record<string, unknown>>;

export interface UiSource {
  readonly parts: (options: StreamOptions) => AsyncIterable<PlainPart>;
  readonly outcome: (signal?: AbortSignal) => Promise<RunOutcome<unknown>>;
  readonly task: string;
}

const headers = {
  "content-type": "text/event-stream",
  "cache-control": "no-cache",
  "x-vercel-ai-ui-message-stream": "v1",
  "x-accel-buffering": "no",
};

/** The reader may leave at any time: following ends then, and the run goes on. */
export function uiResponse(run: UiSource, init: ResponseInit = {}): Response {
  const left = new AbortController();
  const chunks = uiChunks(run, left.signal);
  const encoder = new TextEncoder();
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const next = await chunks.next();
      const line = next.done === true ? "[DONE]" : JSON.stringify(next.value);
      controller.enqueue(encoder.encode(`data: ${line}\n\n`));
      if (next.done === true) controller.close();
    },
    async cancel() {
      left.abort();
      await chunks.return(undefined);
    },
  });
  return new Response(body, { ...init, headers: { ...headers, ...Object.fromEntries(new Headers(init.headers)) } });
}

/** A stream does not throw: an error is its last chunk but one. */
async function* uiChunks(run: UiSource, signal: AbortSignal): AsyncGenerator<UiChunk> {
  yield { type: "start", messageId: run.task };
  const writer = new StepWriter();
  try {
    for await (const part of run.parts({ signal })) yield* writer.chunksOf(part);
    if (signal.aborted) return;
    yield* writer.end(await run.outcome(signal));
  } catch (thrown) {
    if (signal.aborted) return;
    yield* writer.close();
    yield { type: "error", errorText: thrown instanceof Error ? thrown.message : String(thrown) };
  }
  yield { type: "finish" };
}

/** Which block is open in the message; a block is closed before anything else begins. */
class StepWriter {
  #main: string | undefined;
  #open: { readonly type: "text" | "reasoning"; readonly id: string } | undefined;
  #blocks = 0;
  #inStep = false;
  #hasText = false;
  /** Calls whose result has not come. The result of anything else was begun before this stream. */
  readonly #calls = new Set<string>();

  *chunksOf(part: PlainPart): Generator<UiChunk> {
    if (part.type === "ask") yield* this.#ask(part.ask);
    if (part.type === "ask" || part.type === "event" || part.type === "notice") return;
    // The agent of the run speaks first; those that it calls are not part of its message.
    this.#main ??= part.task;
    if (part.task !== this.#main) return;
    if (part.type === "text" || part.type === "reasoning") {
      if (part.type === "text" && part.again === true) yield* this.#again();
      yield* this.#write(part.type, part.text);
      return;
    }
    if (part.tool === "final") return;
    yield* this.close(true);
    if (part.type === "tool-call") yield* this.#call(part);
    else yield* this.#result(part);
  }

  *#call(part: Extract<PlainPart, { type: "tool-call" }>): Generator<UiChunk> {
    yield* this.#beginStep();
    this.#calls.add(part.id);
    yield { type: "tool-input-available", toolCallId: part.id, toolName: part.tool, input: part.input, dynamic: true };
  }

  *#result(part: Extract<PlainPart, { type: "tool-result" }>): Generator<UiChunk> {
    if (!this.#calls.delete(part.id)) return;
    yield part.ok
      ? { type: "tool-output-available", toolCallId: part.id, output: part.output, dynamic: true }
      : { type: "tool-output-error", toolCallId: part.id, errorText: part.error, dynamic: true };
    // The results of all calls of a reply belong to its step; the next reply begins another.
    if (this.#calls.size === 0) yield* this.#endStep();
  }

  *#ask(ask: Extract<PlainPart, { type: "ask" }>["ask"]): Generator<UiChunk> {
    yield* this.close(true);
    const call = callIn(ask.details);
    if (ask.kind === "approval" && call !== undefined && this.#calls.has(call)) {
      yield { type: "tool-approval-request", approvalId: ask.id, toolCallId: call };
    }
    const { id, kind, question, choices = [] } = ask;
    yield { type: "data-ask", id, data: { id, kind, question, choices } };
  }

  *#write(type: "text" | "reasoning", text: string): Generator<UiChunk> {
    if (this.#open?.type !== type) {
      yield* this.close(true);
      yield* this.#beginStep();
      this.#blocks += 1;
      this.#open = { type, id: `${type}-${this.#blocks}` };
      yield { type: `${type}-start`, id: this.#open.id };
    }
    if (type === "text") this.#hasText = true;
    yield { type: `${type}-delta`, id: this.#open.id, delta: text };
  }

  /** What was shown of a reply that began anew is taken back. */
  *#again(): Generator<UiChunk> {
    yield* this.close(true);
    if (this.#inStep) yield { type: "reset-step" };
  }

  *#beginStep(): Generator<UiChunk> {
    if (this.#inStep) return;
    this.#inStep = true;
    yield { type: "start-step" };
  }

  *#endStep(): Generator<UiChunk> {
    if (!this.#inStep) return;
    this.#inStep = false;
    yield { type: "finish-step" };
  }

  /** Ends the open block; the step too, unless it goes on. */
  *close(goesOn = false): Generator<UiChunk> {
    if (this.#open !== undefined) yield { type: `${this.#open.type}-end`, id: this.#open.id };
    this.#open = undefined;
    if (!goesOn) yield* this.#endStep();
  }

  *end(outcome: RunOutcome<unknown>): Generator<UiChunk> {
    if (outcome.status === "completed" && typeof outcome.output !== "string") {
      yield* this.close();
      yield { type: "data-result", data: outcome.output };
    } else if (outcome.status === "completed" && !this.#hasText && outcome.output !== "") {
      yield* this.#write("text", String(outcome.output));
    }
    yield* this.close();
    if (outcome.status === "canceled") yield { type: "abort", reason: outcome.error.message };
    if (outcome.status === "failed") yield { type: "error", errorText: outcome.error.message };
  }
}

/** The id of the call that an approval is about. */
function callIn(details: unknown): string | undefined {
  if (typeof details !== "object" || details === null || !("call" in details)) return undefined;
  const { call } = details;
  if (typeof call !== "object" || call === null || !("tool_call_id" in call)) return undefined;
  return typeof call.tool_call_id === "string" ? call.tool_call_id : undefined;
}
