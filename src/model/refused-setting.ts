// Recognises that a request was refused for one of its settings, so that it can be sent without it.

/** `summary`: summaries of the thinking. `fallbacks`: the provider's own, for requests that its classifiers block. */
export type Setting = "effort" | "temperature" | "summary" | "fallbacks";

const refused = String.raw`(?:not supported|unsupported|not support|does not (?:take|accept|allow)|not permitted|not allowed|unknown|unrecogni[sz]ed|unexpected|extra inputs|additional propert|deprecated|only the default|cannot be set|must be verified)`;

function about(names: string): RegExp {
  return new RegExp(`(?:${names})(?=[\\s\\S]{0,160}${refused})|${refused}(?=[\\s\\S]{0,80}(?:${names}))`, "i");
}

/** In this order: a refusal of summaries names the field of the effort as well. */
const wordings: readonly (readonly [Setting, RegExp])[] = [
  [
    "summary",
    about("reasoning summar(?:y|ies)|reasoning\\.summary|includeThoughts|include_thoughts|thinking\\.[a-z.]*display"),
  ],
  ["fallbacks", about("\\bfallbacks\\b|server-side-fallback")],
  ["temperature", about("temperature")],
  [
    "effort",
    about(
      "reasoning[_. ]effort|output_config|\\beffort\\b|thinking(?:_?config|_?level|_?budget)|\\breasoning\\b|\\bthinking\\b",
    ),
  ],
];

/** The setting to leave out; undefined when the refusal is about something else, or about a setting that was not sent. */
export function refusedSetting(text: string, sent: ReadonlySet<Setting>): Setting | undefined {
  return wordings.find(([setting, wording]) => sent.has(setting) && wording.test(text))?.[0];
}
