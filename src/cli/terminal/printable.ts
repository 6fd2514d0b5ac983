// Text from models and tools as a terminal may be given it: without the codes that move its cursor or change its title.

// oxlint-disable-next-line no-control-regex -- controls are what this is about
const controls = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g;

/** Line ends and tabs stay; other controls, and marks that turn the direction of text, are gone. */
export function printable(text: string): string {
  return text.replaceAll("\r\n", "\n").replaceAll(controls, "");
}

/** One line of at most `most` characters, with how many lines are left out. */
export function oneLine(text: string, most: number): string {
  const lines = printable(text).trim().split("\n");
  const more = lines.length > 1 ? ` (+${lines.length - 1} lines)` : "";
  const first = Array.from(lines[0] ?? "");
  return `${first.length > most ? `${first.slice(0, most - 1).join("")}…` : first.join("")}${more}`;
}
