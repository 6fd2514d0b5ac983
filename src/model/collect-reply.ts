// Collects a reply as it streams in. It is returned whole, once the provider has said how it ended, or not at all.

import { thrownMessage } from "../protocol/error.ts";
import type { Message, Part, ToolCall } from "../protocol/task/message.ts";
import { scanJson } from "../protocol/json/scan-json.ts";
import { isJsonObject } from "../protocol/toolcalls/tool-call.ts";
import type { MalformedCall, ModelCallOptions, ModelReply } from "../model-port.ts";
import { tokensOfText } from "./estimate.ts";
import type { PartStream, StreamPart } from "./language-model.ts";
import { type Metadata, readMetadata, type StateItem, withState } from "./provider-state.ts";
import type { TokenCounts } from "./prices.ts";

export interface CollectedReply {
  readonly message: Message;
  readonly finish: ModelReply["finish"];
  readonly malformed: readonly MalformedCall[];
  /** Counts that the provider did not give are absent. */
  readonly tokens: { readonly [K in keyof TokenCounts]?: TokenCounts[K] };
}

/** The stream ended before the reply did; the part that came is dropped. */
export class CutReply extends Error {
  override readonly name = "CutReply";
}

interface Progress {
  /** An estimate of the tokens received so far; they are paid for even if the rest never comes. */
  output: number;
  /** Whether anything of the reply has come. */
  started: boolean;
}

export interface CollectOptions extends Pick<ModelCallOptions, "onText" | "onReasoning" | "onTool"> {
  readonly model: string;
  readonly agent: string;
  /** Whether the provider's own state is kept in the message; not in the fenced format, whose parts are made from the text. */
  readonly keepState: boolean;
  /** Whether that state has the reasoning, which some servers never want back. */
  readonly keepReasoning: boolean;
  /** A hash of the request, when the provider binds its state to what came before it. */
  readonly prefix: string | undefined;
  /** The ids of earlier calls. A server that numbers the calls of each reply uses them again, and they must be made unique. */
  readonly usedIds: () => ReadonlySet<string>;
  readonly progress: Progress;
  /** Called for everything that comes: the connection is alive. */
  readonly onActivity: () => void;
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

export async function collectReply(stream: PartStream, options: CollectOptions): Promise<CollectedReply> {
  const items: Item[] = [];
  let finish: Finish | undefined;
  const reader = stream.getReader();
  try {
    for (let read = await reader.read(); !read.done; read = await reader.read()) {
      const part = read.value;
      if (part.type !== "stream-start") options.onActivity();
      if (part.type === "error") throw part.error;
      if (part.type === "finish") finish = part;
      else collectPart(part, items, options);
    }
  } catch (thrown) {
    // Not awaited: a stream that does not react must not hold the error back.
    reader.cancel(thrown).catch(() => undefined);
    throw thrown;
  }
  if (finish === undefined) throw new CutReply("the reply ended before it was finished");
  return wholeReply(items, finish, options);
}

function collectPart(part: StreamPart, items: Item[], { progress, onText, onReasoning, onTool }: CollectOptions): void {
  switch (part.type) {
    case "text-start":
    case "reasoning-start":
    case "text-delta":
    case "reasoning-delta":
    case "text-end":
    case "reasoning-end": {
      const type = part.type.startsWith("text") ? "text" : "reasoning";
      const item = blockFor(items, type, part.id);
      addMetadata(item, part.providerMetadata);
      if (!("delta" in part) || part.delta === "") return;
      item.text += part.delta;
      countOutput(progress, part.delta);
      (type === "text" ? onText : onReasoning)?.(part.delta);
      return;
    }
    case "tool-input-start":
      progress.started = true;
      onTool?.(part.toolName);
      return;
    case "tool-input-delta":
      countOutput(progress, part.delta);
      onTool?.(part.delta);
      return;
    case "tool-call": {
      // A tool that the provider runs on its own side is not for us to run.
      if (part.providerExecuted === true) return;
      const item: Call = { type: "call", id: part.toolCallId, name: part.toolName, input: part.input };
      addMetadata(item, part.providerMetadata);
      items.push(item);
      progress.started = true;
      return;
    }
    default:
  }
}

function countOutput(progress: Progress, text: string): void {
  progress.started = true;
  progress.output += tokensOfText(text);
}

/** The block that a piece belongs to. Ids may be reused for a later block, so only the newest block of a kind is continued. */
function blockFor(items: Item[], type: "text" | "reasoning", id: string): Block {
  const found = items.findLast((item) => item.type === type && item.id === id);
  if (found !== undefined && found.type !== "call" && found === items.findLast((item) => item.type === type))
    return found;
  const made: Block = { type, id, text: "" };
  items.push(made);
  return made;
}

function addMetadata(item: Item, metadata: unknown): void {
  if (metadata === undefined) return;
  for (const [provider, values] of Object.entries(readMetadata(metadata))) {
    item.metadata = { ...item.metadata, [provider]: { ...item.metadata?.[provider], ...values } };
  }
}

/** Gemini ends a reply so when it made a call that it could not write down; the call itself is not in the reply. */
const unwrittenCall = /MALFORMED_FUNCTION_CALL|UNEXPECTED_TOOL_CALL|TOO_MANY_TOOL_CALLS|MALFORMED_RESPONSE/;

function wholeReply(items: readonly Item[], { finishReason, usage }: Finish, options: CollectOptions): CollectedReply {
  const { unified, raw } = finishReason;
  if (unified === "interrupted" || (unified === "other" && raw === undefined)) {
    throw new CutReply("the reply was interrupted");
  }
  const cut = unified === "length";
  const { parts, state, malformed } = readItems(items, options, cut);
  const unwritten = raw !== undefined && unwrittenCall.test(raw);
  if (unwritten) {
    const message = `the provider could not read the call and left it out (${raw}).`;
    malformed.push({ tool_name: "(unknown)", text: "", message });
  } else if (unified === "error") throw new CutReply(`the provider ended the reply with ${raw ?? "an error"}`);
  const calls = parts.some((part) => part.part_type === "tool_call") || malformed.length > 0;
  const hasText = parts.some((part) => part.part_type === "text" && part.data.trim() !== "");
  const refused = unified === "content-filter";
  const empty = !calls && !hasText && !cut && !refused;
  const message: Message = { name: null, role: "assistant", agent_id: options.agent, parts: empty ? [] : parts };
  const { model, prefix } = options;
  return {
    message:
      options.keepState && !empty
        ? withState(message, { model, ...(prefix === undefined ? {} : { prefix }), items: state })
        : message,
    finish: cut ? "length" : refused ? "refusal" : calls ? "tools" : empty ? "empty" : "stop",
    malformed,
    tokens: tokensIn(usage),
  };
}

interface ReadItems {
  readonly parts: Part[];
  readonly state: StateItem[];
  readonly malformed: MalformedCall[];
}

function readItems(items: readonly Item[], options: CollectOptions, cut: boolean): ReadItems {
  const read: ReadItems = { parts: [], state: [], malformed: [] };
  const own = new Set<string>();
  for (const [at, item] of items.entries()) {
    const metadata = item.metadata === undefined ? {} : { metadata: item.metadata };
    if (item.type === "call") {
      const call = readCall(item, { used: options.usedIds(), own, cut: cut && at === items.length - 1 });
      const isMalformed = "message" in call;
      if (isMalformed) read.malformed.push(call);
      else read.parts.push({ part_type: "tool_call", data: call });
      const known = isMalformed ? { tool_call_id: "" } : { tool_call_id: call.tool_call_id, ...metadata };
      read.state.push({ type: "call", ...known });
    } else if (item.type === "reasoning") {
      if (options.keepReasoning) read.state.push({ type: "reasoning", text: item.text, ...metadata });
    } else if (item.text !== "") {
      read.parts.push({ part_type: "text", data: item.text });
      read.state.push({ type: "text", ...metadata });
    }
  }
  return read;
}

/** The last call of a reply that was cut may look whole and still lack its end. */
function readCall(
  { id, name, input }: Call,
  { used, own, cut }: { readonly used: ReadonlySet<string>; readonly own: Set<string>; readonly cut: boolean },
): ToolCall | MalformedCall {
  const wrong = (message: string): MalformedCall => ({ tool_name: name, text: input, message });
  if (cut) return wrong("the reply was cut at its length limit in this call");
  const args = readArguments(input.trim() === "" ? "{}" : input);
  if (typeof args === "string") return wrong(args);
  const base = id === "" ? "call" : id;
  let unique = base;
  for (let count = 2; used.has(unique) || own.has(unique); count += 1) unique = `${base}_${count}`;
  own.add(unique);
  return { tool_call_id: unique, tool_name: name, input: args };
}

/** The arguments, or a text that says why they cannot be used. */
function readArguments(text: string): Readonly<Record<string, unknown>> | string {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (thrown) {
    return `the arguments are not JSON: ${thrownMessage(thrown)}`;
  }
  if (!isJsonObject(value)) return "the arguments must be a JSON object";
  const start = text.search(/\S/);
  const scan = scanJson(text, start, text.length);
  return scan.ok && scan.inexactAt >= 0
    ? "an integer in the arguments is too large to be held exactly; send it as text"
    : value;
}

function tokensIn({ inputTokens, outputTokens }: Finish["usage"]): CollectedReply["tokens"] {
  return {
    ...(inputTokens.total === undefined ? {} : { input: inputTokens.total }),
    ...(outputTokens.total === undefined ? {} : { output: outputTokens.total }),
    ...(inputTokens.cacheRead === undefined ? {} : { cacheRead: inputTokens.cacheRead }),
    ...(inputTokens.cacheWrite === undefined ? {} : { cacheWritten: inputTokens.cacheWrite }),
  };
}
