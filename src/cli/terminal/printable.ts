// Makes text of models and tools safe to print: without the codes that move the cursor or change the title of a terminal.

// oxlint-disable-next-line no-control-regex -- controls are what this is about
const controls = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g;

/** Keeps line ends and tabs; removes other control characters and the marks that change the direction of text. */
export function printable(text: string): string {
  return text.replaceAll("\r\n", "\n").replaceAll(controls, "");
}

/** The first line, cut to `maxLength` characters, and how many lines follow it. */
export function oneLine(text: string, maxLength: number): string {
  const lines = printable(text).trim().split("\n");
  const more = lines.length > 1 ? ` (+${lines.length - 1} lines)` : "";
  const first = Array.from(lines[0] ?? "");
  return `${first.length > maxLength ? `${first.slice(0, maxLength - 1).join("")}…` : first.join("")}${more}`;
}
