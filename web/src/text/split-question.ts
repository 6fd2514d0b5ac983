// Divides the text of a question into what is asked and what is quoted in it: a command, a patch, a list.

export type QuestionPart =
  | { readonly kind: "words" | "quoted" | "patch"; readonly text: string }
  /** Lines that say something by name. */
  | { readonly kind: "facts"; readonly rows: readonly (readonly [string, string])[] };

const quoted = "  | ";

/** A name in small letters, and what is said by it. */
const fact = /^([a-z][a-z ]{0,23}): (\S.*)$/;

/**
 * Lines that begin with `  | ` are quoted. A quoted part with a heading of a hunk is a patch. Lines after the first that all
 * say something by name are facts.
 */
export function splitQuestion(question: string): readonly QuestionPart[] {
  const parts: { quoted: boolean; lines: string[] }[] = [];
  for (const line of question.split("\n")) {
    const isQuoted = line.startsWith(quoted) || line === quoted.trimEnd();
    const text = isQuoted ? line.slice(quoted.length) : line;
    const last = parts.at(-1);
    if (last !== undefined && last.quoted === isQuoted) last.lines.push(text);
    else parts.push({ quoted: isQuoted, lines: [text] });
  }
  return parts.flatMap((part, index): QuestionPart[] => {
    const text = part.lines.join("\n");
    if (text.trim() === "") return [];
    // The name of what is quoted next says no more than the quote.
    const isNamed = !part.quoted && parts[index + 1] !== undefined && /(?:^|\n)command:$/.test(text);
    if (isNamed) return wordsAndFacts(text.replace(/\n?command:$/, "").trim());
    if (!part.quoted) return wordsAndFacts(text.trim());
    return [{ kind: /^@@ -\d/m.test(text) ? "patch" : "quoted", text }];
  });
}

function wordsAndFacts(text: string): QuestionPart[] {
  if (text === "") return [];
  const lines = text.split("\n");
  let from = lines.length;
  while (from > 0 && fact.test(lines[from - 1] ?? "")) from -= 1;
  const rows = lines.slice(from).map((line) => {
    const [, name = "", said = ""] = fact.exec(line) ?? [];
    return [name, said] as const;
  });
  // One such line alone may well be a sentence.
  if (rows.length < 2) return [{ kind: "words", text }];
  const words = lines.slice(0, from).join("\n").trim();
  return [...(words === "" ? [] : [{ kind: "words" as const, text: words }]), { kind: "facts", rows }];
}
