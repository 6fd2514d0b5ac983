// Text of a model or a file in which nothing is invisible: characters that a terminal obeys or does not show are written as escapes.

import { invisibleCharacter } from "../protocol/invisible-character.ts";

/** Line breaks and tabs stay. Unlike removing them, escapes show the reader that there was something. */
export function escapeInvisible(text: string): string {
  return text.replaceAll(invisibleCharacter, (found) =>
    found === "\n" || found === "\t" ? found : `\\u{${(found.codePointAt(0) ?? 0).toString(16)}}`,
  );
}
