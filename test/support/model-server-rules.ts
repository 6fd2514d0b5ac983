// What the real providers enforce, as a mode of the model server: a request that breaks a rule is refused in their words.

import { createHash, type Hash } from "node:crypto";

import type { Received, Turn } from "./model-server.ts";
import type { ScriptedReply, Wire } from "./model-server-wires.ts";

export interface Rules {
  /** The most tokens of a request, counted as a quarter of its characters. */
  readonly contextTokens?: number;
  /** As Ollama: of a longer request the beginning is cut off, and nobody is told. */
  readonly loadedTokens?: number;
  /** Refuses requests that offer tools. */
  readonly noTools?: boolean;
  /** What a compatible server wants of `reasoning_content`. */
  readonly reasoningContent?: "required" | "refused";
  /** As models of Mistral: no message of the user right after a result. */
  readonly replyAfterResults?: boolean;
}

/** The reply with what this provider gives to be sent back, and with the tokens of the request. */
export function signed(wire: Wire, request: Received, reply: ScriptedReply): ScriptedReply {
  const usage = { input: tokensOf(request), output: 20, ...reply.usage };
  return { ...reply, usage, signature: signatureOf(wire, request.body) };
}

/** Whether the server would silently cut off the beginning of the request. */
export function isTruncated(request: Received, { loadedTokens = Infinity }: Rules): boolean {
  return tokensOf(request) > loadedTokens;
}

function tokensOf({ body }: Received): number {
  return Math.ceil(JSON.stringify(body).length / 4);
}

/** The refusal of the first rule that the request breaks; undefined when it breaks none. */
export function refusalOf(wire: Wire, request: Received, rules: Rules): Turn | undefined {
  const { body } = request;
  if (rules.noTools === true && listOf(body["tools"]).length > 0) {
    return refusal(
      wire,
      404,
      "No endpoints found that support tool use. To learn more about provider routing, visit: …",
    );
  }
  const tokens = tokensOf(request);
  if (rules.contextTokens !== undefined && tokens > rules.contextTokens) {
    return refusal(wire, 400, overflowWords[wire](tokens, rules.contextTokens));
  }
  const broken = broke[wire](request, rules);
  return broken === undefined ? undefined : refusal(wire, 400, broken);
}

const overflowWords: Readonly<Record<Wire, (tokens: number, limit: number) => string>> = {
  anthropic: (tokens, limit) => `prompt is too long: ${tokens} tokens > ${limit} maximum`,
  openai: () => "Your input exceeds the context window of this model. Please adjust your input and try again.",
  google: (tokens, limit) =>
    `The input token count (${tokens}) exceeds the maximum number of tokens allowed (${limit}).`,
  "openai-compatible": (tokens, limit) =>
    `request (${tokens} tokens) exceeds the available context size (${limit} tokens), try increasing it`,
};

function refusal(wire: Wire, status: number, message: string): Turn {
  if (wire === "anthropic") {
    return { status, body: { type: "error", error: { type: "invalid_request_error", message } } };
  }
  if (wire === "google") return { status, body: { error: { code: status, message, status: "INVALID_ARGUMENT" } } };
  return { status, body: { error: { message, type: "invalid_request_error", param: null, code: null } } };
}

type Fields = Readonly<Record<string, unknown>>;

function listOf(value: unknown): readonly Fields[] {
  return Array.isArray(value) ? (value as Fields[]) : [];
}

/** Marks for the cache may move; everything else counts. */
function textOf(value: unknown): string {
  return JSON.stringify(value ?? null, (key, held: unknown) => (key === "cache_control" ? undefined : held));
}

function hashOf(...values: readonly unknown[]): Hash {
  const hash = createHash("sha256");
  for (const value of values) hash.update(textOf(value));
  return hash;
}

function digestOf(hash: Hash): string {
  return hash.copy().digest("base64url").slice(0, 24);
}

function signatureOf(wire: Wire, body: Fields): string {
  const { system, tools, messages, input, contents } = body;
  return digestOf(
    wire === "anthropic" ? hashOf(system, tools, ...listOf(messages)) : hashOf(input, contents, messages),
  );
}

const broke: Readonly<Record<Wire, (request: Received, rules: Rules) => string | undefined>> = {
  anthropic: brokeAnthropic,
  openai: brokeOpenai,
  google: brokeGoogle,
  "openai-compatible": brokeCompatible,
};

function brokeAnthropic({ body, headers }: Received): string | undefined {
  const messages = listOf(body["messages"]);
  const binding = (body["thinking"] as Fields | undefined)?.["block_binding"];
  if (binding !== undefined && !String(headers["anthropic-beta"]).includes("thinking-binding-controls-2026-08-01")) {
    return "thinking.block_binding: Extra inputs are not permitted";
  }
  const before = hashOf(body["system"], body["tools"]);
  for (const [at, message] of messages.entries()) {
    const content = listOf(message["content"]);
    if (content.length === 0) return `messages.${at}: all messages must have non-empty content`;
    if (messages[at - 1]?.["role"] === message["role"]) return `messages: roles must alternate`;
    const prefix = before.copy();
    before.update(textOf(message));
    if (message["role"] !== "assistant") continue;
    for (const [index, block] of content.entries()) {
      const isBound = block["type"] !== "thinking" || block["signature"] === digestOf(prefix);
      prefix.update(textOf(block));
      if (!isBound) {
        return `messages.${at}.content.${index}: Invalid \`signature\` in \`thinking\` block. The block is bound to a different conversation. Remove the block, or set \`thinking.block_binding.prefix_mismatch_behavior\` to "drop_block".`;
      }
    }
    if (content.at(-1)?.["type"] === "thinking") {
      return `messages.${at}: The final block in an assistant message cannot be \`thinking\`.`;
    }
    const calls = content.flatMap((block) => (block["type"] === "tool_use" ? [block["id"]] : []));
    const results = listOf(messages[at + 1]?.["content"]).flatMap((block) =>
      block["type"] === "tool_result" ? [block["tool_use_id"]] : [],
    );
    if (calls.join() !== results.join()) {
      return `messages.${at}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${calls.join(", ")}.`;
    }
  }
  return undefined;
}

function brokeOpenai({ body }: Received): string | undefined {
  const items = listOf(body["input"]);
  const ids = new Set<unknown>();
  for (const [at, item] of items.entries()) {
    if (item["type"] === "reasoning") {
      if (ids.has(item["id"])) return `Duplicate item found with id ${String(item["id"])}.`;
      ids.add(item["id"]);
      const next = items[at + 1];
      if (next?.["type"] !== "function_call" && next?.["role"] !== "assistant") {
        return `Item '${String(item["id"])}' of type 'reasoning' was provided without its required following item.`;
      }
    }
    if (item["type"] === "function_call") {
      const answered = items.some(
        (other) => other["type"] === "function_call_output" && other["call_id"] === item["call_id"],
      );
      if (!answered) return `No tool output found for function call ${String(item["call_id"])}.`;
    }
  }
  return undefined;
}

function brokeGoogle({ body }: Received): string | undefined {
  const contents = listOf(body["contents"]);
  const isSaid = (part: Fields): boolean => "text" in part && part["thought"] !== true;
  const current = contents.findLastIndex(({ role, parts }) => role === "user" && listOf(parts).some(isSaid));
  for (const [at, content] of contents.entries()) {
    const parts = listOf(content["parts"]);
    if (parts.length === 0) return `contents[${at}].parts must not be empty.`;
    if (content["role"] !== "model") continue;
    if (parts.every((part) => part["thought"] === true)) return `contents[${at}].parts must have text or a call.`;
    const calls = parts.filter((part) => "functionCall" in part);
    if (at > current && calls.length > 0 && calls[0]?.["thoughtSignature"] === undefined) {
      return "Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly.";
    }
    const answers = listOf(contents[at + 1]?.["parts"]).filter((part) => "functionResponse" in part);
    if (answers.length !== calls.length) {
      return "Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.";
    }
  }
  return undefined;
}

function brokeCompatible({ body }: Received, rules: Rules): string | undefined {
  const messages = listOf(body["messages"]);
  for (const [at, message] of messages.entries()) {
    const { role, content, tool_calls, reasoning_content } = message;
    const before = messages[at - 1]?.["role"];
    if ((role === "user" || role === "assistant") && role === before) {
      return "Conversation roles must alternate user/assistant/user/assistant/...";
    }
    if (rules.replyAfterResults === true && role === "user" && before === "tool") {
      return "Unexpected role 'user' after role 'tool'";
    }
    if (role === "tool" && typeof content !== "string") return `messages.${at}.content: Input should be a valid string`;
    if (role !== "assistant") continue;
    if (rules.reasoningContent === "refused" && reasoning_content !== undefined) {
      return `'messages.${at}' : for 'role:assistant' the following must be satisfied[('messages.${at}' : property 'reasoning_content' is unsupported)]`;
    }
    if (rules.reasoningContent === "required" && tool_calls !== undefined && reasoning_content === undefined) {
      return "The `reasoning_content` in the thinking mode must be passed back to the API.";
    }
    const calls = listOf(tool_calls).map(({ id }) => id);
    const results = messages.slice(at + 1, at + 1 + calls.length).map(({ tool_call_id }) => tool_call_id);
    if (calls.join() !== results.join()) {
      return "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'.";
    }
  }
  return undefined;
}
