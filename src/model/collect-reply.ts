// Reads a reply as it streams in. It is returned whole, when the provider said how it ended, or not at all.

import type { Message, Part, ToolCall } from "../protocol/task/message.ts";
import { scanJson } from "../protocol/json/scan-json.ts";
import { isJsonObject } from "../protocol/toolcalls/tool-call.ts";
import type { MalformedCall, ModelCallOptions, ModelReply } from "../ports.ts";
import { tokensOfText } from "./estimate.ts";
import type { PartStream, StreamPart } from "./language-model.ts";
import { type Metadata, readMetadata, type StateItem, withState } from "./provider-state.ts";
import type { Tokens } from "./prices.ts";

export interface WholeReply {
  readonly message: Message;
  readonly finish: ModelReply["finish"];
  readonly malformed: readonly MalformedCall[];
  /** A count that the provider did not tell is absent. */
  readonly tokens: { readonly [K in keyof Tokens]?: Tokens[K] };
}

/** The stream ended before the reply did; what came of it is dropped. */
export class CutReply extends Error {
  override readonly name = "CutReply";
}

/** The provider ended a reply that says and asks nothing. */
export class EmptyReply extends Error {
  override readonly name = "EmptyReply";
}

interface Progress {
  /** Tokens of the reply that have come, roughly; they cost even if the rest never comes. */
  output: number;
  started: boolean;
}

export interface Reading extends Pick<ModelCallOptions, "onText" | "onReasoning" | "onTool"> {
  readonly model: string;
  readonly agent: string;
  /** Whether the provider's own state is wanted in the message. Text that is read for calls anew has no place for it. */
  readonly keepState: boolean;
  /** Ids of calls in the conversation; a server that counts from 0 in every reply gives them again. */
  readonly usedIds: ReadonlySet<string>;
  readonly progress: Progress;
  /** Something came: the connection is alive. */
  readonly onSign: () => void;
}

interface Block {
  readonly type: "text" | "reasoning";
  readonly id: string;
  text: string;
  metadata?: Metadata;
}

interface Call {
  readonly type: "call";
  readonly id: string;
  readonly name: string;
  readonly input: string;
  metadata?: Metadata;
}

type Item = Block | Call;

type Finish = Extract<StreamPart, { type: "finish" }>;

export async function readReply(stream: PartStream, reading: Reading): Promise<WholeReply> {
  const items: Item[] = [];
  let finish: Finish | undefined;
  for await (const part of stream) {
    if (part.type !== "stream-start") reading.onSign();
    if (part.type === "error") throw part.error;
    if (part.type === "finish") finish = part;
    else take(part, items, reading);
  }
  if (finish === undefined) throw new CutReply("the reply ended before it was finished");
  return wholeReply(items, finish, reading);
}

function take(part: StreamPart, items: Item[], { progress, onText, onReasoning, onTool }: Reading): void {
  switch (part.type) {
    case "text-start":
    case "reasoning-start":
    case "text-delta":
    case "reasoning-delta":
    case "text-end":
    case "reasoning-end": {
      const type = part.type.startsWith("text") ? "text" : "reasoning";
      const item = blockOf(items, type, part.id);
      note(item, part.providerMetadata);
      if (!("delta" in part) || part.delta === "") return;
      item.text += part.delta;
      arrived(progress, part.delta);
      (type === "text" ? onText : onReasoning)?.(part.delta);
      return;
    }
    case "tool-input-start":
      progress.started = true;
      onTool?.(part.toolName);
      return;
    case "tool-input-delta":
      arrived(progress, part.delta);
      onTool?.(part.delta);
      return;
    case "tool-call": {
      // What the provider ran itself was never asked of it, and is not ours to run.
      if (part.providerExecuted === true) return;
      const item: Call = { type: "call", id: part.toolCallId, name: part.toolName, input: part.input };
      note(item, part.providerMetadata);
      items.push(item);
      progress.started = true;
      return;
    }
    default:
  }
}

function arrived(progress: Progress, text: string): void {
  progress.started = true;
  progress.output += tokensOfText(text);
}

/** An id may come again for a later block; only the newest block of its kind is continued. */
function blockOf(items: Item[], type: "text" | "reasoning", id: string): Block {
  const found = items.findLast((item) => item.type === type && item.id === id);
  if (found !== undefined && found.type !== "call" && found === items.findLast((item) => item.type === type))
    return found;
  const made: Block = { type, id, text: "" };
  items.push(made);
  return made;
}

function note(item: Item, metadata: unknown): void {
  for (const [provider, values] of Object.entries(readMetadata(metadata))) {
    item.metadata = { ...item.metadata, [provider]: { ...item.metadata?.[provider], ...values } };
  }
}

function wholeReply(items: readonly Item[], { finishReason, usage }: Finish, reading: Reading): WholeReply {
  const { unified, raw } = finishReason;
  if (unified === "interrupted" || (unified === "other" && raw === undefined)) {
    throw new CutReply("the reply was interrupted");
  }
  const cut = unified === "length";
  const parts: Part[] = [];
  const state: StateItem[] = [];
  const malformed: MalformedCall[] = [];
  const ids = new Set(reading.usedIds);
  for (const [at, item] of items.entries()) {
    const metadata = item.metadata === undefined ? {} : { metadata: item.metadata };
    if (item.type === "call") {
      const read = readCall(item, { ids, cut: cut && at === items.length - 1 });
      if ("message" in read) malformed.push(read);
      else {
        parts.push({ part_type: "tool_call", data: read });
        state.push({ type: "call", tool_call_id: read.tool_call_id, ...metadata });
      }
    } else if (item.type === "reasoning") state.push({ type: "reasoning", text: item.text, ...metadata });
    else if (item.text !== "") {
      parts.push({ part_type: "text", data: item.text });
      state.push({ type: "text", ...metadata });
    }
  }
  const calls = parts.some((part) => part.part_type === "tool_call") || malformed.length > 0;
  const said = parts.some((part) => part.part_type === "text" && part.data.trim() !== "");
  const refused = unified === "content-filter";
  if (!calls && !said && !cut && !refused) throw new EmptyReply("the reply was empty");
  if (unified === "error") throw new CutReply(`the provider ended the reply with ${raw ?? "an error"}`);
  const message: Message = { name: null, role: "assistant", agent_id: reading.agent, parts };
  return {
    message: reading.keepState ? withState(message, reading.model, state) : message,
    finish: cut ? "length" : refused ? "refusal" : calls ? "tools" : "stop",
    malformed,
    tokens: tokensIn(usage),
  };
}

/** A call at the place where a reply was cut may look whole without being it. */
function readCall(
  { id, name, input }: Call,
  { ids, cut }: { readonly ids: Set<string>; readonly cut: boolean },
): ToolCall | MalformedCall {
  const wrong = (message: string): MalformedCall => ({ tool_name: name, text: input, message });
  if (cut) return wrong("the reply was cut at its length limit in this call");
  const args = readArguments(input.trim() === "" ? "{}" : input);
  if (typeof args === "string") return wrong(args);
  const base = id === "" ? "call" : id;
  let own = base;
  for (let count = 2; ids.has(own) || own === ""; count += 1) own = `${base}_${count}`;
  ids.add(own);
  return { tool_call_id: own, tool_name: name, input: args };
}

/** What is wrong, as text, when it is no JSON object that can be held exactly. */
function readArguments(text: string): Readonly<Record<string, unknown>> | string {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (thrown) {
    return `the arguments are not JSON: ${thrown instanceof Error ? thrown.message : String(thrown)}`;
  }
  if (!isJsonObject(value)) return "the arguments must be a JSON object";
  const start = text.search(/\S/);
  const scan = scanJson(text, start, text.length);
  return scan.ok && scan.inexactAt >= 0
    ? "an integer in the arguments is too large to be held exactly; send it as text"
    : value;
}

function tokensIn({ inputTokens, outputTokens }: Finish["usage"]): WholeReply["tokens"] {
  return {
    ...(inputTokens.total === undefined ? {} : { input: inputTokens.total }),
    ...(outputTokens.total === undefined ? {} : { output: outputTokens.total }),
    ...(inputTokens.cacheRead === undefined ? {} : { cacheRead: inputTokens.cacheRead }),
    ...(inputTokens.cacheWrite === undefined ? {} : { cacheWritten: inputTokens.cacheWrite }),
  };
}
