// Recognises that a request was refused because it asked for a longer reply than the model can give.

/** Each with the most tokens of output that the server names. */
const wordings: readonly RegExp[] = [
  // Anthropic
  /max_tokens: [\d,]+ > (?<most>[\d,]+), which is the maximum allowed number of output tokens/i,
  // OpenAI and servers that use its words
  /(?:max_tokens|max_completion_tokens|max_output_tokens) is too large: [\d,]+\. This model supports at most (?<most>[\d,]+)/i,
  // Groq
  /`?max_(?:completion_)?tokens`? must be less than or equal to `?(?<most>[\d,]+)/i,
  // DeepSeek and DashScope
  /range of max_tokens (?:is|should be) \[\d+, ?(?<most>[\d,]+)\]/i,
  // vLLM and SGLang
  /max_(?:completion_)?tokens[^.]{0,60}(?:cannot|must not) (?:be greater than|exceed) (?<most>[\d,]+)/i,
];

/** Gemini names the first number that is too large. */
const below =
  /maxOutputTokens value of \d+ but the supported range is from \d+ \(inclusive\) to (?<most>\d+) \(exclusive\)/i;

/** The longest reply that the server accepts; undefined when the refusal is about something else. */
export function outputLimitIn(text: string): number | undefined {
  for (const wording of wordings) {
    const most = numberIn(wording, text);
    if (most !== undefined) return most;
  }
  const first = numberIn(below, text);
  return first === undefined ? undefined : first - 1;
}

function numberIn(wording: RegExp, text: string): number | undefined {
  const value = Number(wording.exec(text)?.groups?.["most"]?.replaceAll(",", "") ?? Number.NaN);
  return Number.isSafeInteger(value) && value > 1 ? value : undefined;
}
