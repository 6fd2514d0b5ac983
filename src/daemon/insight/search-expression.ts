// Turns what a person types into a query of the index. Nothing that is typed is read as its language.

/** Everything beyond is left out. */
const mostTerms = 12;
/** The index knows beginnings of this length; a shorter word must be whole. */
const shortestBeginning = 3;

export interface SearchFilter {
  readonly kind?: string | undefined;
  /** The id of a root task. */
  readonly root?: number | undefined;
}

/** All words must occur; the last one may go on if it has three letters; words in quotes must follow each other. Undefined when nothing can be found. */
export function searchExpression(typed: string, { kind, root }: SearchFilter = {}): string | undefined {
  const terms = termsIn(typed).slice(0, mostTerms);
  if (terms.length === 0) return undefined;
  const last = terms.at(-1)?.split(" ").at(-1) ?? "";
  const isWhole = /["\s]$/.test(typed) || last.length < shortestBeginning;
  const words = terms.map((term, at) => `text : "${term}"${at === terms.length - 1 && !isWhole ? "*" : ""}`);
  const tags = [...(kind === undefined ? [] : [`k${kind}`]), ...(root === undefined ? [] : [`r${root}`])];
  return [...tags.map((tag) => `tags : "${tag}"`), ...words].join(" AND ");
}

/** Only letters, digits and marks are left of a term: that is what the index holds. */
function termsIn(typed: string): string[] {
  const pieces = [...typed.matchAll(/"([^"]*)"|([^\s"]+)/g)].map(([, quoted, word]) => quoted ?? word ?? "");
  return pieces.map((piece) => piece.replaceAll(/[^\p{L}\p{N}\p{M}]+/gu, " ").trim()).filter((term) => term !== "");
}
