// Text of models and tools as the screen will show it, for code that measures or cuts it before it is written.
import { escapeControls } from "../../core/escape-controls.ts";

/** The screen escapes by itself; only text whose length or lines matter has to be escaped earlier. */
export function printable(text: string): string {
  return escapeControls(text.replaceAll("\r\n", "\n"));
}

/** A name, such as that of a file: always one line. */
export function printableName(name: string): string {
  return escapeControls(name).replaceAll("\r\n", "\\r\\n").replaceAll("\n", "\\n").replaceAll("\t", "\\t");
}

/** The first line, cut to `maxLength` characters, and how many lines follow it. */
export function oneLine(text: string, maxLength: number): string {
  const lines = printable(text).trim().split("\n");
  const more = lines.length > 1 ? ` (+${lines.length - 1} lines)` : "";
  const first = Array.from(lines[0] ?? "");
  return `${first.length > maxLength ? `${first.slice(0, maxLength - 1).join("")}…` : first.join("")}${more}`;
}
