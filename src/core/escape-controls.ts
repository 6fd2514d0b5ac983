// Text that a terminal can only show: characters that a terminal would obey, or that reorder a line, are written as \uXXXX.

/**
 * Control characters other than line feed and tab (a carriage return may stand before a line feed), the marks that change
 * the direction of text, and the line breaks of Unicode.
 */
const controls =
  // oxlint-disable-next-line no-control-regex -- control characters are what this is about
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]|\r(?!\n)/g;

/**
 * All of these characters have four hexadecimal digits, so JSON text stays JSON text with the same value: they occur only
 * inside of its strings. A person who reads plain text sees that there was something.
 */
export function escapeControls(text: string): string {
  return text.replaceAll(controls, (found) => `\\u${found.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
