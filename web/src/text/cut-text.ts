// Cuts text that is too long to be shown at once, at a place that says how much is left.

export interface CutText {
  readonly shown: string;
  /** Characters that are not shown; 0 when all of it is. */
  readonly left: number;
}

const longestLine = 2_000;

/** At most `lines` lines and no line beyond 2,000 characters; a cut line ends the text that is shown. */
export function cutText(text: string, lines: number): CutText {
  let at = 0;
  for (let line = 0; line < lines; line += 1) {
    const end = text.indexOf("\n", at);
    const length = (end === -1 ? text.length : end) - at;
    if (length > longestLine) return cutAt(text, at + longestLine);
    if (end === -1) return { shown: text, left: 0 };
    at = end + 1;
  }
  return cutAt(text, at);
}

function cutAt(text: string, at: number): CutText {
  // A character of two halves stays whole.
  const code = text.charCodeAt(at - 1);
  const end = code >= 0xd800 && code <= 0xdbff ? at - 1 : at;
  return { shown: text.slice(0, end), left: text.length - end };
}
