// Recognises that a request was refused because it is longer than the model takes, in the words of every known server.

/** What the refusal says in numbers; a number that it does not give is absent. */
export interface Overflow {
  /** The most tokens the model takes. */
  readonly limit?: number;
  /** The tokens of the request's input. */
  readonly input?: number;
}

const number = String.raw`[\d,_]+`;

function wording(text: string): RegExp {
  const named = text.replaceAll(/@(limit|input)/g, (_, name: string) => `(?<${name}>${number})`);
  return new RegExp(named.replaceAll("#", number), "is");
}

/** The first that fits counts. `@limit` and `@input` are numbers to read, `#` is any other number. */
const wordings: readonly RegExp[] = [
  // Anthropic
  wording("prompt is too long: @input tokens > @limit"),
  wording("input length and `?max_tokens`? exceed context limit: @input \\+ # > @limit"),
  // Mistral
  wording("prompt contains @input tokens.{0,60}too large for model with @limit maximum context"),
  // Gemini
  wording("input token count(?: of)? \\(?@input\\)? exceeds the maximum number of tokens allowed(?: of)? \\(?@limit"),
  // xAI
  wording("maximum prompt length is @limit but the request contains @input tokens"),
  // OpenAI
  wording("input tokens exceed the configured limit of @limit tokens.{0,20}messages resulted in @input tokens"),
  // OpenAI chat completions, vLLM, DeepSeek, OpenRouter
  wording(
    "maximum context length (?:is|of) @limit tokens.{0,200}?@input (?:of text input|in (?:the|your) (?:messages|prompt)|input tokens|tokens from the input)",
  ),
  wording("maximum context length (?:is|of) @limit tokens.{0,60}messages resulted in @input tokens"),
  wording("maximum context length (?:is|of) @limit"),
  // vLLM and SGLang
  wording("prompt \\(length @input\\) is longer than the maximum model length of @limit"),
  wording(
    "input(?: length)? \\(@input(?: tokens)?\\) (?:exceeds|is longer than) (?:the )?model's (?:maximum )?context length \\(@limit",
  ),
  wording("input length \\(@input(?: tokens)?\\) exceeds the maximum allowed length \\(@limit"),
  // llama.cpp
  wording("request \\(@input tokens\\) exceeds the available context size \\(@limit"),
  wording('"n_prompt_tokens"\\s*:\\s*@input.{0,40}"n_ctx"\\s*:\\s*@limit'),
  // LM Studio
  wording("n_keep: @input\\s*>=\\s*n_ctx: @limit"),
  wording("first @input tokens when context the overflows.{0,80}context length of only @limit tokens"),
  wording("reached context length of @limit tokens"),
  // Moonshot, GitHub Copilot, Cerebras, text-generation-inference, DashScope
  wording("exceeded model token limit: @limit \\(requested: @input"),
  wording("prompt token count of @input exceeds the limit of @limit"),
  wording("current length is @input while limit is @limit"),
  wording("`?inputs`? (?:must have less than|tokens \\+ `?max_new_tokens`? must be <=) @limit"),
  wording("range of input length should be \\[#, @limit\\]"),
  // A single request that is larger than the account may send in a minute.
  wording("request too large for.{0,120}tokens per min.{0,40}limit @limit, requested @input"),
  // Without numbers: OpenAI, Groq, llama.cpp, LM Studio, Ollama, MiniMax, Bedrock, z.ai, and codes that several use.
  /exceeds? the (?:model's )?context (?:window|length)/i,
  /context[_ ](?:length|window|size)(?: has been)?[_ ]exceeded|exceed_context_size|model_context_window_exceeded/i,
  /exceeds the available context size/i,
  /greater than the context length/i,
  /(?:exceed(?:s|ed)?|than) (?:the )?max(?:imum)? context length/i,
  /context window exceeds limit/i,
  /reduce the length of the messages/i,
  /prompt is too long|input is too long|prompt exceeds max length|too many tokens|token limit exceeded/i,
];

/** Undefined when the text is about something else. */
export function overflowIn(text: string): Overflow | undefined {
  for (const each of wordings) {
    const found = each.exec(text);
    if (found !== null) return { ...numberIn("limit", found), ...numberIn("input", found) };
  }
  return undefined;
}

function numberIn(name: "limit" | "input", { groups }: RegExpExecArray): Overflow {
  const value = Number(groups?.[name]?.replaceAll(/[,_]/g, "") ?? Number.NaN);
  return Number.isSafeInteger(value) && value > 0 ? { [name]: value } : {};
}
