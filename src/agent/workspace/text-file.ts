// Whether the content of a file is text, and how its lines end.

/** How much of a file is examined to tell text from other data. */
export const sampleBytes = 8_192;

/** Whether the sample has a zero byte or much that is not UTF-8, so that neither a model nor an edit can use the file. */
export function isBinary(sample: Uint8Array): boolean {
  if (sample.includes(0)) return true;
  const text = new TextDecoder().decode(sample);
  let wrong = 0;
  for (const character of text) if (character === "\uFFFD") wrong += 1;
  // The end of the sample may cut one character into pieces.
  return wrong > 3 && wrong > text.length / 20;
}

/** The text, or undefined when decoding it as UTF-8 would lose something. */
export function exactText(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** True when every line ends with CR LF, so that leaving the CR out loses nothing. */
export function hasCrlf(text: string): boolean {
  let lines = 0;
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) {
    if (text[at - 1] !== "\r") return false;
    lines += 1;
  }
  return lines > 0 && (text.match(/\r/g)?.length ?? 0) === lines;
}
