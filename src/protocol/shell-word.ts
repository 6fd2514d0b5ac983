// A word as one would type it in a shell, so that nothing in it can be mistaken for the next word or for a word of the shell.

import { invisibleCharacter } from "./invisible-character.ts";

const plain = /^[\w@%+:,./-][\w@%+=:,./-]*$/;
/** Blanks of other languages look like the end of a word, and the empty pattern of Braille looks like a blank. */
const looksBlank = /(?! )\p{Zs}|\u2800/gu;

/** In quotes where it must be; with `$'…'`, which bash, zsh and ksh read, where a reader could not see what is in it. */
export function shellWord(word: string): string {
  if (plain.test(word)) return word;
  const escaped = word
    .replaceAll(/[\\']/g, "\\$&")
    .replaceAll(invisibleCharacter, escapeOf)
    .replaceAll(looksBlank, escapeOf);
  if (hidesSomething(word)) return `$'${escaped}'`;
  return `'${word.replaceAll("'", "'\\''")}'`;
}

/** Whether a reader would not see all of it, or would take a part for a blank. */
export function hidesSomething(word: string): boolean {
  return word.search(invisibleCharacter) !== -1 || word.search(looksBlank) !== -1;
}

function escapeOf(found: string): string {
  if (found === "\n") return "\\n";
  if (found === "\t") return "\\t";
  if (found === "\r") return "\\r";
  const code = found.codePointAt(0) ?? 0;
  // As many digits as there can be: what follows might be a digit, too.
  return code > 0xffff ? `\\U${code.toString(16).padStart(8, "0")}` : `\\u${code.toString(16).padStart(4, "0")}`;
}
