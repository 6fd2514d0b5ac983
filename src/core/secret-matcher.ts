// Where secrets stand in a plain text: known values in all their forms, and whatever has the form of a secret of our own.

import { findTexts, shortestText } from "./find-texts.ts";
import { secretForms } from "./secret-forms.ts";

export interface Secret {
  /** What stands in its place, so that a reader knows what was there. */
  readonly name: string;
  readonly value: string;
}

export interface SecretSpan {
  readonly start: number;
  readonly end: number;
  /** What to put there. */
  readonly label: string;
}

export interface SecretMatcher {
  /** In order, without overlaps: secrets that share characters are one. */
  spans(text: string): SecretSpan[];
  /** Cheaper than asking for all. */
  anyIn(text: string): boolean;
  /** From where on the text may be the beginning of a secret that goes on after it; its length when nothing is. */
  mayBegin(text: string): number;
  /** Longer than any secret. */
  readonly longest: number;
  /** Values that are numbers as JSON writes them, with their labels. */
  readonly numbers: ReadonlyMap<string, string>;
}

/** By how it begins. */
const ownLabels: Readonly<Record<string, string>> = {
  tk_: "[redacted:api key]",
  "wh-": "[redacted:worker handle]",
  "ot-": "[redacted:operator token]",
  "ti-": "[redacted:ticket]",
  tt1: "[redacted:worker token]",
};

/** Stands where a name would itself tell a secret. */
export const plainLabel = "[redacted]";

const longestToken = 4096;
const ownForms = new RegExp(
  String.raw`tk_[\w-]{43}|(?:wh|ot|ti)-[0-9a-f]{32}|tt1\.[\w-]{1,${longestToken}}\.[\w-]{43}`,
  "g",
);
const ownHere = new RegExp(ownForms.source, "y");
const ownBeginnings = new RegExp(
  `(?:${[
    String.raw`t(?:k(?:_[\w-]{0,42})?)?`,
    String.raw`t(?:i(?:-[0-9a-f]{0,31})?)?`,
    String.raw`w(?:h(?:-[0-9a-f]{0,31})?)?`,
    String.raw`o(?:t(?:-[0-9a-f]{0,31})?)?`,
    String.raw`t(?:t(?:1(?:\.(?:[\w-]{1,${longestToken}}(?:\.[\w-]{0,42})?)?)?)?)?`,
  ].join("|")})$`,
);

/**
 * `snapshot-` and a digest is no operator's token, nor a long name of `gtk_` a key: what is before one is no letter or
 * digit, unless of an escape. A worker's token is unlike anything else.
 */
const boundary = /(?:^|[^A-Za-z0-9]|\\[nrtbf]|\\u[0-9a-fA-F]{4}|%[0-9a-fA-F]{2})$/;
const longestBoundary = 6;

function standsAlone(text: string, start: number): boolean {
  return (
    text.startsWith("tt1", start) ||
    start === 0 ||
    boundary.test(text.slice(Math.max(0, start - longestBoundary), start))
  );
}

/** The first at or after `from` that stands alone. */
function nextOwn(text: string, from: number): SecretSpan | undefined {
  ownForms.lastIndex = from;
  for (let match = ownForms.exec(text); match !== null; match = ownForms.exec(text)) {
    if (standsAlone(text, match.index)) return ownSpan(match);
    ownForms.lastIndex = match.index + 1;
  }
  return undefined;
}

/** One that begins right there: after another secret there is no telling what was before. */
function ownAt(text: string, at: number): SecretSpan | undefined {
  ownHere.lastIndex = at;
  const match = ownHere.exec(text);
  return match === null ? undefined : ownSpan(match);
}

function ownSpan({ 0: text, index }: RegExpExecArray): SecretSpan {
  return { start: index, end: index + text.length, label: ownLabels[text.slice(0, 3)] ?? plainLabel };
}

const jsonNumber = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/** White space around a value does not count, and what is then shorter than eight characters is no secret. */
export function secretMatcher(secrets: Iterable<Secret>): SecretMatcher {
  const values = new Map<string, string>();
  for (const { name, value } of secrets) {
    const trimmed = value.trim();
    if (trimmed.length >= shortestText && !isInLabel(trimmed) && !values.has(trimmed)) values.set(trimmed, name);
  }
  const labels = new Map<string, string>();
  const numbers = new Map<string, string>();
  for (const [value, name] of values) {
    const label = labelFor(name, values);
    for (const form of secretForms(value)) if (!labels.has(form)) labels.set(form, label);
    if (jsonNumber.test(value)) numbers.set(value, label);
  }
  const forms = [...labels.keys()];
  const find = findTexts(forms);
  const longest = forms.reduce((most, form) => Math.max(most, form.length), longestToken + 64);
  const byBeginning = Map.groupBy(forms, (form) => form.charAt(0));

  const nextKnown = (text: string, from: number): SecretSpan | undefined => {
    const hit = find(text, from);
    return hit && { start: hit.start, end: hit.end, label: labels.get(forms[hit.index] ?? "") ?? plainLabel };
  };
  /** Both kinds in the order of where they begin; what overlaps becomes one, with the label of its longest part. */
  const spans = (text: string): SecretSpan[] => {
    const found: SecretSpan[] = [];
    let [start, end, longest, label] = [-1, -1, 0, plainLabel];
    let known = nextKnown(text, 0);
    let own = nextOwn(text, 0);
    for (;;) {
      const ours = known === undefined || (own !== undefined && own.start < known.start);
      const next = ours ? own : known;
      if (next === undefined) break;
      if (next.start >= end) {
        if (end > 0) found.push({ start, end, label });
        [start, longest] = [next.start, 0];
      }
      if (next.end - next.start > longest) [longest, label] = [next.end - next.start, next.label];
      end = Math.max(end, next.end);
      if (ours) own = nextOwn(text, next.end);
      else known = nextKnown(text, next.start + 1);
      const joined = ownAt(text, end);
      if (joined !== undefined && joined.start < (own?.start ?? Infinity)) own = joined;
    }
    if (end > 0) found.push({ start, end, label });
    return found;
  };

  return {
    spans,
    anyIn: (text) => find(text, 0) !== undefined || text.search(ownForms) !== -1,
    longest,
    numbers,
    mayBegin(text) {
      const tail = Math.max(0, text.length - longest);
      const own = ownBeginnings.exec(text.slice(tail));
      const most = own === null ? text.length : tail + own.index;
      for (let at = tail; at < most; at += 1) {
        const rest = text.slice(at);
        const known = byBeginning.get(rest.charAt(0));
        if (known?.some((form) => form.length > rest.length && form.startsWith(rest)) === true) return at;
      }
      return most;
    },
  };
}

/** A value that is part of what we put in a secret's place would be found there again and again. */
function isInLabel(value: string): boolean {
  return plainLabel.includes(value) || Object.values(ownLabels).some((label) => label.includes(value));
}

function labelFor(name: string, values: ReadonlyMap<string, string>): string {
  const label = `[redacted:${name.replaceAll(/[^\w.:/ -]/g, "_").slice(0, 64)}]`;
  const tells = label.search(ownForms) !== -1 || [...values.keys()].some((value) => label.includes(value));
  return tells ? plainLabel : label;
}
