// Compares the output that a page shows with what a command printed. Ids, times, paths and the like may differ, and `…` stands for anything.

/** The id that the page shows, and the one that this run has for it. */
export type KnownIds = Map<string, string>;

interface Places {
  readonly home: string;
  readonly clone: string;
}

const idPattern = /\b(?:tsk|ask|gol|thr|ntc)_[a-z0-9_]+\b|\bkey_[a-f0-9-]+\b|\bop-[a-f0-9-]+\b/g;

/** Parts of a line that differ between runs, each with a pattern for what this run may have instead. */
const varying: readonly (readonly [RegExp, string])[] = [
  [/…/, ".*"],
  // The time at the beginning of a line of the tour is aligned at its end.
  [/^ *\d+\.\d s {2}/, " *\\d+\\.\\d s {2}"],
  [/(?:\d[\d.]* (?:ms|s|min|h|d)\b ?)+/, "(?:\\d[\\d.]* (?:ms|s|min|h|d)\\b ?)+"],
  [/\d+ tokens/, "\\d+ tokens"],
  [/process \d+/, "process \\d+"],
  [/127\.0\.0\.1:\d+/, "127\\.0\\.0\\.1:\\d+"],
  [/"duration_ms":\d+/, '"duration_ms":\\d+'],
];

/** Undefined when they agree; otherwise the first line of the page that was not printed. Ids that were matched are added to `ids`. */
export function missingLine(
  shown: readonly string[],
  printed: readonly string[],
  { ids, places }: { readonly ids: KnownIds; readonly places: Places },
): string | undefined {
  const wanted = shown.map(comparable);
  const got = printed.map(comparable);
  let at = 0;
  let skipping = false;
  for (const line of wanted) {
    if (line.trim() === "…") {
      skipping = true;
      continue;
    }
    const matches = (candidate: string): boolean => matchLine(line, candidate, { ids, places });
    const found = skipping ? got.findIndex((candidate, index) => index >= at && matches(candidate)) : at;
    const candidate = got[found];
    if (found === -1 || candidate === undefined || !matches(candidate)) return line;
    at = found + 1;
    skipping = false;
  }
  return skipping || at === got.length
    ? undefined
    : `the end; ${got.length - at} more lines were printed: ${got[at] ?? ""}`;
}

/** A transcript says that it is a rehearsal as soon as it knows, which may be one line later. */
function comparable(line: string): string {
  return line.trimEnd().replace(/ \(rehearsal\)$/, "");
}

function matchLine(line: string, candidate: string, { ids, places }: { ids: KnownIds; places: Places }): boolean {
  const named: string[] = [];
  const source = patternOf(
    line,
    (id) => {
      const known = ids.get(id);
      if (known !== undefined) return escape(known);
      named.push(id);
      return `(${`${id.startsWith("op-") ? "op-" : id.slice(0, 4)}[a-z0-9_-]+`})`;
    },
    places,
  );
  const found = new RegExp(`^${source}$`).exec(candidate);
  if (found === null) return false;
  for (const [index, id] of named.entries()) ids.set(id, found[index + 1] ?? "");
  return true;
}

function patternOf(line: string, idFor: (id: string) => string, { home, clone }: Places): string {
  const local = line.replaceAll("/home/you/tutti", clone).replaceAll("/home/you", home);
  const any = new RegExp([idPattern, ...varying.map(([part]) => part)].map((part) => part.source).join("|"), "g");
  let source = "";
  let end = 0;
  for (const { 0: part, index } of local.matchAll(any)) {
    source += escape(local.slice(end, index));
    const rule = varying.find(([pattern]) => new RegExp(`^(?:${pattern.source})$`).test(part));
    source += rule === undefined ? idFor(part) : rule[1];
    end = index + part.length;
  }
  return source + escape(local.slice(end));
}

function escape(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\/]/g, String.raw`\$&`);
}

/** Puts the ids of this run into a command: those that the page showed before, and for `tsk_…` the latest that was printed. */
export function withKnownIds(command: string, ids: KnownIds, latest: readonly string[]): string {
  const literal = command.replaceAll(idPattern, (id) => ids.get(id) ?? id);
  return literal.replaceAll(/\b(tsk_|ask_|gol_|key_|op-)…/g, (shown, prefix: string) => {
    for (const output of latest.toReversed()) {
      const found = [...output.matchAll(idPattern)].find(([id]) => id.startsWith(prefix));
      if (found !== undefined) return found[0];
    }
    return shown;
  });
}
