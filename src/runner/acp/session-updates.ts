// Turns what a session reports into messages, events and usage of its task. Reports are claims: nothing of them is evidence.

import { TuttiError } from "../../protocol/error.ts";
import type { Message, Part } from "../../protocol/task/message.ts";
import type { RunningStep } from "../../ports.ts";
import type { Usage } from "../../protocol/task/budget.ts";
import {
  diffsIn,
  MessageChunk,
  type PromptResult,
  type TokenUsage,
  ToolCallUpdate,
  UsageUpdate,
} from "./acp-frames.ts";

export interface UpdateLimits {
  /** How much of a session's text is kept, in UTF-16 code units. */
  readonly textLength: number;
  /** How many messages and events a session may have. */
  readonly records: number;
}

const defaultUpdateLimits: UpdateLimits = { textLength: 16 * 2 ** 20, records: 20_000 };

/** How much of one update or result is kept. */
const longestRecord = 64 * 1_024;

/** Sums over the session, as the agent counts them. */
export interface Counted {
  readonly input: number;
  readonly output: number;
  readonly micros: number;
}

export const nothingCounted: Counted = { input: 0, output: 0, micros: 0 };

type Chunks = { readonly channel: "text" | "reasoning"; readonly id: string | undefined; text: string };

export class SessionUpdates {
  readonly #step: Pick<RunningStep, "during" | "live">;
  readonly #name: string;
  readonly #limits: UpdateLimits;
  #counted: Counted;
  #records = 0;
  #length = 0;
  #isOutput = false;
  #chunks: Chunks | undefined;
  readonly #calls = new Map<string, { call: ToolCallUpdate; told: boolean; ended: boolean }>();
  #turnTexts: string[] = [];
  #turnCalls = 0;

  constructor(
    step: Pick<RunningStep, "during" | "live">,
    {
      name,
      counted,
      limits = defaultUpdateLimits,
    }: { name: string; counted: Counted; limits?: UpdateLimits | undefined },
  ) {
    this.#step = step;
    this.#name = name;
    this.#counted = counted;
    this.#limits = limits;
  }

  get counted(): Counted {
    return this.#counted;
  }

  /** A prompt was delivered: what comes from now on is output. */
  begin(): void {
    this.#isOutput = true;
    this.#turnTexts = [];
    this.#turnCalls = 0;
  }

  /** The prompt was answered. Gives the text of the turn, and whether it had nothing else. */
  end({ usage, _meta }: Partial<Pick<PromptResult, "usage" | "_meta">> = {}): {
    readonly text: string;
    readonly isTextOnly: boolean;
  } {
    this.#flush();
    for (const { call } of this.#calls.values()) this.#tellCall(call.toolCallId);
    const ofPrompt = _meta?.quota?.token_count;
    if (usage !== undefined && usage !== null) this.#spendTokens(usage);
    else if (ofPrompt !== undefined) this.#spendPrompt(ofPrompt);
    this.#isOutput = false;
    return { text: this.#turnTexts.at(-1) ?? "", isTextOnly: this.#turnCalls === 0 };
  }

  /** Throws `too_large` when the session says more than is kept of one. */
  take(update: Readonly<Record<string, unknown>> & { readonly sessionUpdate: string }): void {
    const { sessionUpdate: kind } = update;
    if (kind === "usage_update") return this.#takeCost(update);
    // Replayed history before the first prompt, and what comes between two prompts, is no output.
    if (!this.#isOutput || kind === "user_message_chunk") return;
    if (kind === "agent_message_chunk") return this.#takeChunk("text", update);
    if (kind === "agent_thought_chunk") return this.#takeChunk("reasoning", update);
    this.#flush();
    const call =
      kind === "tool_call" || kind === "tool_call_update" ? ToolCallUpdate.safeParse(update).data : undefined;
    if (call === undefined) this.#tell(kind, update);
    else this.#takeCall(call);
  }

  /** The call that a request for permission is about, with what was said of it before. */
  requested(call: ToolCallUpdate): ToolCallUpdate {
    this.#flush();
    const merged = this.#merge(call);
    this.#tellCall(call.toolCallId);
    return merged;
  }

  /** A line that is no frame. */
  bad(problem: string, line: string): void {
    this.#tell("bad_frame", { problem, line });
  }

  #record(length: number): string {
    this.#records += 1;
    this.#length += length;
    const { records, textLength } = this.#limits;
    if (this.#records > records) throw tooMuch(`more than ${records} messages and events`);
    if (this.#length > textLength) throw tooMuch(`more than ${textLength} characters`);
    return `r${this.#records}`;
  }

  #tell(kind: string, update: unknown): void {
    const text = JSON.stringify(update);
    const kept =
      text.length > longestRecord
        ? { cut: true, length: text.length, beginning: text.slice(0, 2_000).toWellFormed() }
        : update;
    this.#step.during.tell(this.#record(Math.min(text.length, longestRecord)), {
      type: "session.updated",
      data: { kind, update: kept },
    });
  }

  #say(message: Message, length: number): void {
    this.#step.during.say(this.#record(length), message);
  }

  #takeChunk(channel: Chunks["channel"], update: unknown): void {
    const chunk = MessageChunk.safeParse(update).data;
    if (chunk === undefined || chunk.content.text === undefined) {
      this.#flush();
      return this.#tell(channel === "text" ? "agent_message_chunk" : "agent_thought_chunk", update);
    }
    const { text } = chunk.content;
    const id = chunk.messageId ?? undefined;
    if (this.#chunks === undefined || this.#chunks.channel !== channel || this.#chunks.id !== id) {
      this.#flush();
      this.#chunks = { channel, id, text: "" };
    }
    this.#chunks.text += text;
    if (this.#length + this.#chunks.text.length > this.#limits.textLength) {
      throw tooMuch(`more than ${this.#limits.textLength} characters`);
    }
    this.#step.live(channel, text);
  }

  #flush(): void {
    const chunks = this.#chunks;
    this.#chunks = undefined;
    if (chunks === undefined || chunks.text.trim() === "") return;
    const { text, channel } = chunks;
    if (channel === "reasoning") return this.#tell("thought", { text });
    this.#turnTexts.push(text);
    this.#say({ name: this.#name, role: "assistant", parts: [{ part_type: "text", data: text }] }, text.length);
  }

  #merge(update: ToolCallUpdate): ToolCallUpdate {
    const known = this.#calls.get(update.toolCallId);
    const given = Object.fromEntries(
      Object.entries(update).filter(([, value]) => value !== undefined && value !== null),
    );
    const call = ToolCallUpdate.parse({ ...known?.call, ...given, toolCallId: update.toolCallId });
    if (known === undefined) {
      this.#turnCalls += 1;
      this.#calls.set(update.toolCallId, { call, told: false, ended: false });
    } else known.call = call;
    return call;
  }

  #takeCall(update: ToolCallUpdate): void {
    const { status, toolCallId } = this.#merge(update);
    if (status !== undefined && status !== null && status !== "pending") this.#tellCall(toolCallId);
    if (status === "completed" || status === "failed") this.#tellResult(toolCallId);
  }

  #tellCall(id: string): void {
    const known = this.#calls.get(id);
    if (known === undefined || known.told) return;
    known.told = true;
    const { call } = known;
    const input = bounded(call.rawInput ?? { title: call.title ?? "" });
    this.#say(
      {
        name: this.#name,
        role: "assistant",
        parts: [{ part_type: "tool_call", data: { tool_call_id: id, tool_name: nameOf(call), input } }],
      },
      JSON.stringify(input).length,
    );
  }

  #tellResult(id: string): void {
    const known = this.#calls.get(id);
    if (known === undefined || known.ended) return;
    known.ended = true;
    const { call } = known;
    const parts = resultParts(call);
    const data = { tool_call_id: id, tool_name: nameOf(call), parts };
    this.#say(
      { name: this.#name, role: "tool", parts: [{ part_type: "tool_result", data }] },
      JSON.stringify(parts).length,
    );
    // Its content is kept now; only that it is over has to be remembered.
    known.call = { toolCallId: id };
  }

  #takeCost(update: unknown): void {
    const cost = UsageUpdate.safeParse(update).data?.cost;
    if (cost === undefined || cost === null) return;
    if (cost.currency.toUpperCase() !== "USD") return this.#tell("usage_update", update);
    const micros = Math.round(cost.amount * 1_000_000);
    const spent = since(this.#counted.micros, micros);
    this.#counted = { ...this.#counted, micros };
    if (spent > 0) this.#spend({ input_tokens: 0, output_tokens: 0, money_micro_usd: spent });
  }

  #spendTokens({ inputTokens, outputTokens }: TokenUsage): void {
    const input_tokens = since(this.#counted.input, inputTokens);
    const output_tokens = since(this.#counted.output, outputTokens);
    this.#counted = { ...this.#counted, input: inputTokens, output: outputTokens };
    if (input_tokens + output_tokens > 0) this.#spend({ input_tokens, output_tokens, money_micro_usd: 0 });
  }

  #spendPrompt({ input_tokens, output_tokens }: Pick<Usage, "input_tokens" | "output_tokens">): void {
    const { input, output } = this.#counted;
    this.#counted = { ...this.#counted, input: input + input_tokens, output: output + output_tokens };
    if (input_tokens + output_tokens > 0) this.#spend({ input_tokens, output_tokens, money_micro_usd: 0 });
  }

  #spend(usage: Parameters<RunningStep["during"]["spend"]>[1]): void {
    this.#step.during.spend(this.#record(0), usage);
  }
}

/** A sum that went down was begun anew. */
function since(before: number, now: number): number {
  return now >= before ? now - before : now;
}

function nameOf({ name, kind }: ToolCallUpdate): string {
  return name ?? kind ?? "tool";
}

function resultParts(call: ToolCallUpdate): Part[] {
  const texts = (call.content ?? []).flatMap((part) => {
    const { content }: { content?: { text?: unknown } } = Object(part);
    return typeof content?.text === "string" ? [content.text] : [];
  });
  if (call.status === "failed") {
    const message = texts.join("\n") || outputText(call.rawOutput) || "the call failed";
    return [{ part_type: "data", data: { error: { message: message.slice(0, longestRecord).toWellFormed() } } }];
  }
  const diffs = diffsIn(call).map(({ path, oldText, newText }): Part => ({
    part_type: "data",
    data: bounded({ diff: { path, old_text: oldText ?? null, new_text: newText } }),
  }));
  const text = texts.join("\n") || (diffs.length === 0 ? outputText(call.rawOutput) : "");
  return [
    ...(text === "" ? [] : [{ part_type: "text" as const, data: text.slice(0, longestRecord).toWellFormed() }]),
    ...diffs,
  ];
}

function outputText(output: unknown): string {
  if (output === undefined || output === null) return "";
  return typeof output === "string" ? output : JSON.stringify(output);
}

function bounded(value: unknown): unknown {
  const text = JSON.stringify(value) ?? "null";
  if (text.length <= longestRecord) return value;
  return { cut: true, length: text.length, beginning: text.slice(0, 2_000).toWellFormed() };
}

function tooMuch(what: string): TuttiError {
  return new TuttiError("too_large", `the session was ended because it sent ${what}`, { retry: "unknown" });
}
