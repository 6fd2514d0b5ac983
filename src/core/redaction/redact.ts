// Replaces secrets in a text before it is stored or shown; valid JSON stays valid.

import { shortestText } from "./find-texts.ts";
import { plainLabel, type Secret, type SecretMatcher, secretMatcher, type SecretSpan } from "./secret-matcher.ts";

export interface Redactor {
  /**
   * Returns the same text if it has no secret. In JSON, the values of strings and keys are searched, so that valid JSON stays
   * valid; a number is replaced only if all of it is a secret. Redacting twice gives the same as redacting once.
   */
  (text: string): string;
  readonly matcher: SecretMatcher;
}

export function redactor(secrets: Iterable<Secret>): Redactor {
  const matcher = secretMatcher(secrets);
  const redact = (text: string): string => {
    if (!matcher.anyIn(text)) return text;
    return isJson(text) ? redactJson(text, matcher) : redactPlain(text, matcher);
  };
  return Object.assign(redact, { matcher });
}

/** A label and the text around it can form another secret, so the text is searched again, but not for ever. */
const maxPasses = 4;

function redactPlain(text: string, matcher: SecretMatcher): string {
  let clean = text;
  for (let pass = 0; pass < maxPasses; pass += 1) {
    const spans = matcher.spans(clean);
    if (spans.length === 0) return clean;
    clean = withLabels(clean, spans);
  }
  return matcher.anyIn(clean) ? plainLabel : clean;
}

export function withLabels(text: string, spans: readonly SecretSpan[]): string {
  let [out, from] = ["", 0];
  for (const { start, end, label } of spans) {
    out += text.slice(from, start) + label;
    from = end;
  }
  return out + text.slice(from);
}

/** Whether the text is JSON as a whole; a text that only begins like JSON is searched as plain text. */
function isJson(text: string): boolean {
  if (!/^\s*[[{"\d-]/.test(text)) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Every string is parsed, searched and, if it changed, written again; everything else stays the same, byte for byte. */
function redactJson(text: string, matcher: SecretMatcher): string {
  let [out, from] = ["", 0];
  for (let open = text.indexOf('"'); open !== -1; open = text.indexOf('"', from)) {
    const end = endOfString(text, open);
    out += withoutNumbers(text.slice(from, open), matcher);
    const written = text.slice(open, end);
    from = end;
    if (written.length < shortestText + 2) {
      out += written;
      continue;
    }
    const read = written.includes("\\") ? String(JSON.parse(written)) : written.slice(1, -1);
    const clean = redactPlain(read, matcher);
    out += clean === read ? written : JSON.stringify(clean);
  }
  return out + withoutNumbers(text.slice(from), matcher);
}

/** The position after the closing quote of the string that opens at `open`. */
function endOfString(text: string, open: number): number {
  for (let quote = text.indexOf('"', open + 1); quote !== -1; quote = text.indexOf('"', quote + 1)) {
    let slashes = 0;
    while (text.charCodeAt(quote - 1 - slashes) === 0x5c) slashes += 1;
    if (slashes % 2 === 0) return quote + 1;
  }
  return text.length;
}

function withoutNumbers(between: string, { numbers }: SecretMatcher): string {
  if (numbers.size === 0 || between.length < shortestText) return between;
  return between.replaceAll(/-?\d[\d.eE+-]*/g, (number) => {
    const label = numbers.get(number);
    return label === undefined ? number : JSON.stringify(label);
  });
}
