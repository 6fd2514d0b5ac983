// Replies of the model server as each provider streams them: server-sent events in its own format.

export type Wire = "anthropic" | "openai" | "google" | "openai-compatible";

export interface ScriptedReply {
  readonly reasoning?: string;
  /** What the provider wants back with the reasoning, or with the call; it also makes the ids of its items unique. */
  readonly signature?: string;
  readonly text?: readonly string[];
  /** `args` is sent as it stands, so it may be broken. */
  readonly calls?: readonly { readonly id: string; readonly name: string; readonly args: string }[];
  readonly finish?: "stop" | "length" | "refusal";
  readonly usage?: {
    readonly input: number;
    readonly output: number;
    readonly cached?: number;
    readonly written?: number;
  };
}

type Frame = (data: unknown) => string;

const plain: Frame = (data) => `data: ${JSON.stringify(data)}\n\n`;
const named: Frame = (data) => `event: ${String((data as { type: string }).type)}\n${plain(data)}`;

/** In two pieces, so that no reader may count on getting them whole. */
function halves(text: string): string[] {
  const middle = Math.ceil(text.length / 2);
  return [text.slice(0, middle), text.slice(middle)].filter((piece) => piece !== "");
}

export function framesOf(wire: Wire, reply: ScriptedReply): string[] {
  switch (wire) {
    case "anthropic":
      return anthropic(reply).map(named);
    case "openai":
      return responses(reply).map((data, index) => named({ ...data, sequence_number: index }));
    case "openai-compatible":
      return [...chat(reply).map(plain), "data: [DONE]\n\n"];
    case "google":
      return google(reply).map(plain);
  }
}

function usageOf({ usage }: ScriptedReply) {
  return { input: 20, output: 5, cached: 0, written: 0, ...usage };
}

function anthropic(reply: ScriptedReply): object[] {
  const { input, output, cached, written } = usageOf(reply);
  const block = (index: number, start: object, deltas: readonly object[]): object[] => [
    { type: "content_block_start", index, content_block: start },
    ...deltas.map((delta) => ({ type: "content_block_delta", index, delta })),
    { type: "content_block_stop", index },
  ];
  const blocks: ((index: number) => object[])[] = [];
  const { reasoning, text = [], calls = [] } = reply;
  if (reasoning !== undefined) {
    blocks.push((index) =>
      block(index, { type: "thinking", thinking: "", signature: "" }, [
        { type: "thinking_delta", thinking: reasoning },
        { type: "signature_delta", signature: reply.signature ?? "c2lnbmVk" },
      ]),
    );
  }
  if (text.length > 0) {
    const deltas = text.map((piece) => ({ type: "text_delta", text: piece }));
    blocks.push((index) => block(index, { type: "text", text: "" }, deltas));
  }
  for (const { id, name, args } of calls) {
    const deltas = halves(args).map((piece) => ({ type: "input_json_delta", partial_json: piece }));
    blocks.push((index) => block(index, { type: "tool_use", id, name, input: {} }, deltas));
  }
  const stop = { stop: calls.length > 0 ? "tool_use" : "end_turn", length: "max_tokens", refusal: "refusal" };
  const usage = {
    input_tokens: input - cached - written,
    cache_read_input_tokens: cached,
    cache_creation_input_tokens: written,
  };
  return [
    {
      type: "message_start",
      message: {
        id: "msg_1",
        type: "message",
        role: "assistant",
        model: "m",
        content: [],
        stop_reason: null,
        stop_sequence: null,
        usage: { ...usage, output_tokens: 1 },
      },
    },
    { type: "ping" },
    ...blocks.flatMap((make, index) => make(index)),
    {
      type: "message_delta",
      delta: { stop_reason: stop[reply.finish ?? "stop"], stop_sequence: null },
      usage: { output_tokens: output },
    },
    { type: "message_stop" },
  ];
}

function responses(reply: ScriptedReply): object[] {
  const { input, output, cached } = usageOf(reply);
  const { reasoning, text = [], calls = [], finish } = reply;
  const response = { id: "resp_1", object: "response", created_at: 1, model: "m", service_tier: null };
  const frames: object[] = [
    { type: "response.created", response: { ...response, status: "in_progress" } },
    { type: "response.in_progress", response: { ...response, status: "in_progress" } },
  ];
  let at = 0;
  if (reasoning !== undefined) {
    const id = `rs_${reply.signature ?? "1"}`;
    const encrypted_content = reply.signature ?? "ZW5j";
    const item = { id, type: "reasoning", encrypted_content, summary: [] as object[] };
    frames.push({ type: "response.output_item.added", output_index: at, item });
    frames.push({
      type: "response.reasoning_summary_part.added",
      item_id: id,
      output_index: at,
      summary_index: 0,
      part: { type: "summary_text", text: "" },
    });
    frames.push({
      type: "response.reasoning_summary_text.delta",
      item_id: id,
      output_index: at,
      summary_index: 0,
      delta: reasoning,
    });
    frames.push({
      type: "response.reasoning_summary_part.done",
      item_id: id,
      output_index: at,
      summary_index: 0,
      part: { type: "summary_text", text: reasoning },
    });
    frames.push({
      type: "response.output_item.done",
      output_index: at,
      item: { ...item, summary: [{ type: "summary_text", text: reasoning }] },
    });
    at += 1;
  }
  const refused = finish === "refusal";
  if (text.length > 0) {
    const whole = text.join("");
    const item = { id: "msg_1", type: "message", role: "assistant" };
    frames.push({
      type: "response.output_item.added",
      output_index: at,
      item: { ...item, status: "in_progress", content: [] },
    });
    const kind = refused ? "refusal" : "output_text";
    const part = refused ? { type: "refusal", refusal: "" } : { type: "output_text", text: "", annotations: [] };
    frames.push({ type: "response.content_part.added", item_id: "msg_1", output_index: at, content_index: 0, part });
    for (const delta of text)
      frames.push({
        type: `response.${kind}.delta`,
        item_id: "msg_1",
        output_index: at,
        content_index: 0,
        delta,
        logprobs: [],
      });
    if (refused)
      frames.push({
        type: "response.refusal.done",
        item_id: "msg_1",
        output_index: at,
        content_index: 0,
        refusal: whole,
      });
    const content = refused
      ? [{ type: "refusal", refusal: whole }]
      : [{ type: "output_text", text: whole, annotations: [] }];
    frames.push({
      type: "response.output_item.done",
      output_index: at,
      item: { ...item, status: "completed", content },
    });
    at += 1;
  }
  for (const { id, name, args } of calls) {
    const item = { id: `fc_${id}`, type: "function_call", call_id: id, name };
    frames.push({
      type: "response.output_item.added",
      output_index: at,
      item: { ...item, status: "in_progress", arguments: "" },
    });
    for (const delta of halves(args))
      frames.push({ type: "response.function_call_arguments.delta", item_id: item.id, output_index: at, delta });
    frames.push({ type: "response.function_call_arguments.done", item_id: item.id, output_index: at, arguments: args });
    frames.push({
      type: "response.output_item.done",
      output_index: at,
      item: { ...item, status: "completed", arguments: args },
    });
    at += 1;
  }
  const usage = {
    input_tokens: input,
    input_tokens_details: { cached_tokens: cached },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: input + output,
  };
  const done =
    finish === "length"
      ? {
          type: "response.incomplete",
          response: { ...response, status: "incomplete", incomplete_details: { reason: "max_output_tokens" }, usage },
        }
      : { type: "response.completed", response: { ...response, status: "completed", incomplete_details: null, usage } };
  return [...frames, done];
}

function chat(reply: ScriptedReply): object[] {
  const { input, output, cached } = usageOf(reply);
  const { reasoning, text = [], calls = [], finish } = reply;
  const chunk = (delta: object, reason: string | null = null): object => ({
    id: "chatcmpl-1",
    object: "chat.completion.chunk",
    created: 1,
    model: "m",
    choices: [{ index: 0, delta, finish_reason: reason }],
  });
  const reasons = { stop: calls.length > 0 ? "tool_calls" : "stop", length: "length", refusal: "content_filter" };
  return [
    chunk({ role: "assistant", content: "" }),
    ...(reasoning === undefined ? [] : [chunk({ reasoning_content: reasoning })]),
    ...text.map((content) => chunk({ content })),
    ...calls.flatMap(({ id, name, args }, index) => [
      chunk({ tool_calls: [{ index, id, type: "function", function: { name, arguments: "" } }] }),
      ...halves(args).map((piece) => chunk({ tool_calls: [{ index, function: { arguments: piece } }] })),
    ]),
    chunk({}, reasons[finish ?? "stop"]),
    {
      id: "chatcmpl-1",
      object: "chat.completion.chunk",
      created: 1,
      model: "m",
      choices: [],
      usage: {
        prompt_tokens: input,
        completion_tokens: output,
        total_tokens: input + output,
        prompt_tokens_details: { cached_tokens: cached },
      },
    },
  ];
}

/** Gemini sends the arguments of a call as an object; broken ones end the reply with a reason of their own. */
function google(reply: ScriptedReply): object[] {
  const { input, output, cached } = usageOf(reply);
  const { reasoning, text = [], calls = [], finish } = reply;
  const usageMetadata = {
    promptTokenCount: input,
    candidatesTokenCount: output,
    totalTokenCount: input + output,
    cachedContentTokenCount: cached,
  };
  const chunk = (parts: readonly object[], rest: object = {}): object => ({
    candidates: [{ content: { role: "model", parts }, index: 0, ...rest }],
    usageMetadata,
    modelVersion: "m",
    responseId: "r1",
  });
  const broken = calls.some(({ args }) => !isObject(args));
  const reasons = { stop: broken ? "MALFORMED_FUNCTION_CALL" : "STOP", length: "MAX_TOKENS", refusal: "SAFETY" };
  return [
    ...(reasoning === undefined ? [] : [chunk([{ text: reasoning, thought: true }])]),
    ...text.map((piece) => chunk([{ text: piece }])),
    ...(broken
      ? []
      : calls.map(({ id, name, args }) =>
          chunk([{ functionCall: { id, name, args: JSON.parse(args) }, thoughtSignature: reply.signature ?? "c2ln" }]),
        )),
    chunk([], { finishReason: reasons[finish ?? "stop"] }),
  ];
}

function isObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}
