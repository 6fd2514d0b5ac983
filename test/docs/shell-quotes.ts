// Finds what a shell would run although the page means text: backticks inside of double quotes.

/** Of one page: the line of each such command, in blocks for a shell and in those without a language. */
export function runBackticks(page: string): string[] {
  return [...page.matchAll(/^(`{3,})(\w*)\n([^]*?)^\1$/gm)].flatMap(([, , language = "", text = ""]) => {
    if (!["", "sh", "bash", "console"].includes(language)) return [];
    const lines = text.replaceAll("\\\n", " ").split("\n");
    const isSession = lines.some((line) => line.startsWith("$ "));
    return lines.filter((line) => (!isSession || line.startsWith("$ ")) && hasRunBacktick(line));
  });
}

/** As POSIX shells quote: nothing counts between single quotes, and a backslash takes the next character's meaning away. */
function hasRunBacktick(line: string): boolean {
  let quote = "";
  for (let at = 0; at < line.length; at += 1) {
    const char = line[at] ?? "";
    if (char === "\\" && quote !== "'") at += 1;
    else if (char === "`" && quote === '"') return true;
    else if (char === quote) quote = "";
    else if (quote === "" && (char === "'" || char === '"')) quote = char;
    else if (quote === "" && char === "#" && /^\s?$/.test(line[at - 1] ?? "")) return false;
  }
  return false;
}
