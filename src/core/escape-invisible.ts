// Text of a model or a file in which nothing is invisible: characters that a terminal obeys or does not show are written as escapes.

/** Controls, characters without a shape of their own, other line breaks, and lone halves of characters. */
const invisible = /\p{Cc}|\p{Cf}|\p{Cs}|\p{Zl}|\p{Zp}|\p{Default_Ignorable_Code_Point}/gu;

/** Line breaks and tabs stay. Unlike removing them, escapes show the reader that there was something. */
export function escapeInvisible(text: string): string {
  return text.replaceAll(invisible, (found) =>
    found === "\n" || found === "\t" ? found : `\\u{${(found.codePointAt(0) ?? 0).toString(16)}}`,
  );
}
