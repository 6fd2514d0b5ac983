// Finds secrets in a plain text: known values in all their forms, and anything that looks like one of Tutti's own secrets.

import { findTexts, shortestText } from "./find-texts.ts";
import { secretForms } from "./secret-forms.ts";

export interface Secret {
  /** Written in its place, so that a reader knows what was there. */
  readonly name: string;
  readonly value: string;
}

export interface SecretSpan {
  readonly start: number;
  readonly end: number;
  /** The text that replaces it. */
  readonly label: string;
}

export interface SecretMatcher {
  /** In order, without overlaps: secrets that share characters are one. */
  spans(text: string): SecretSpan[];
  /** Cheaper than `spans`, but may also be true for a text without any. */
  anyIn(text: string): boolean;
  /** Where the end of the text begins that may be the beginning of a secret; the length of the text if there is none. */
  mayBegin(text: string): number;
  /** Longer than any secret. */
  readonly longest: number;
  /** Values that are numbers as JSON writes them, with their labels. */
  readonly numbers: ReadonlyMap<string, string>;
}

/** The labels of Tutti's own secrets, by their first three characters. */
const ownLabels: Readonly<Record<string, string>> = {
  tk_: "[redacted:api key]",
  tw_: "[redacted:page token]",
  tc_: "[redacted:sign-in code]",
  "wh-": "[redacted:worker handle]",
  "ot-": "[redacted:operator token]",
  "ti-": "[redacted:ticket]",
  tt1: "[redacted:worker token]",
};

/** Used where the name of a secret would itself reveal a secret. */
export const plainLabel = "[redacted]";

const longestToken = 4096;
const ownForms = new RegExp(
  String.raw`t[kwc]_[\w-]{43}|(?:wh|ot|ti)-[0-9a-f]{32}|tt1\.[\w-]{1,${longestToken}}\.[\w-]{43}`,
  "g",
);
const ownHere = new RegExp(ownForms.source, "y");
const ownBeginnings = new RegExp(
  `(?:${[
    String.raw`t(?:[kwc](?:_[\w-]{0,42})?)?`,
    String.raw`t(?:i(?:-[0-9a-f]{0,31})?)?`,
    String.raw`w(?:h(?:-[0-9a-f]{0,31})?)?`,
    String.raw`o(?:t(?:-[0-9a-f]{0,31})?)?`,
    String.raw`t(?:t(?:1(?:\.(?:[\w-]{1,${longestToken}}(?:\.[\w-]{0,42})?)?)?)?)?`,
  ].join("|")})$`,
);

/**
 * What comes before one of our own secrets: no letter or digit, unless it belongs to an escape. Otherwise `snapshot-` with a
 * digest would be taken for an operator's token. A worker's token is long enough to be told without this.
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

/** One that begins at `at`, whatever is before it: used right after another secret. */
function ownAt(text: string, at: number): SecretSpan | undefined {
  ownHere.lastIndex = at;
  const match = ownHere.exec(text);
  return match === null ? undefined : ownSpan(match);
}

function ownSpan({ 0: text, index }: RegExpExecArray): SecretSpan {
  return { start: index, end: index + text.length, label: ownLabels[text.slice(0, 3)] ?? plainLabel };
}

const jsonNumber = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/** White space around a value is ignored. Values shorter than eight characters are not redacted. */
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
  /** Both kinds in order of their start. Overlapping ones become one, with the label of the longest. */
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

/** A value that is part of a label would be found again in every label. */
function isInLabel(value: string): boolean {
  return plainLabel.includes(value) || Object.values(ownLabels).some((label) => label.includes(value));
}

function labelFor(name: string, values: ReadonlyMap<string, string>): string {
  const label = `[redacted:${name.replaceAll(/[^\w.:/ -]/g, "_").slice(0, 64)}]`;
  const tells = label.search(ownForms) !== -1 || [...values.keys()].some((value) => label.includes(value));
  return tells ? plainLabel : label;
}
