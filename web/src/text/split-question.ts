// Divides the text of a question into what is asked and what is quoted in it: a command, a patch, a list.

export interface QuestionPart {
  readonly kind: "words" | "quoted" | "patch";
  readonly text: string;
}

const quoted = "  | ";

/** Lines that begin with `  | ` are quoted. A quoted part with a heading of a hunk is a patch. */
export function splitQuestion(question: string): readonly QuestionPart[] {
  const parts: { quoted: boolean; lines: string[] }[] = [];
  for (const line of question.split("\n")) {
    const isQuoted = line.startsWith(quoted) || line === quoted.trimEnd();
    const text = isQuoted ? line.slice(quoted.length) : line;
    const last = parts.at(-1);
    if (last !== undefined && last.quoted === isQuoted) last.lines.push(text);
    else parts.push({ quoted: isQuoted, lines: [text] });
  }
  return parts.flatMap((part): QuestionPart[] => {
    const text = part.lines.join("\n");
    if (text.trim() === "") return [];
    if (!part.quoted) return [{ kind: "words", text: text.trim() }];
    return [{ kind: /^@@ -\d/m.test(text) ? "patch" : "quoted", text }];
  });
}
