// Whether words that are to be passed on as a person's answer are really the person's.

/** True when `words` stand in the person's message, letter for letter but for white space, and not inside other words. */
export function areOwnWords(message: string, words: string): boolean {
  const [said, wanted] = [oneLine(message), oneLine(words)];
  if (wanted === "") return false;
  for (let at = said.indexOf(wanted); at !== -1; at = said.indexOf(wanted, at + 1)) {
    const [before, after] = [said.slice(0, at), said.slice(at + wanted.length)];
    const cutsWord =
      (/[\p{L}\p{N}]$/u.test(before) && /^[\p{L}\p{N}]/u.test(wanted)) ||
      (/^[\p{L}\p{N}]/u.test(after) && /[\p{L}\p{N}]$/u.test(wanted));
    if (!cutsWord) return true;
  }
  return false;
}

function oneLine(text: string): string {
  return text.trim().split(/\s+/u).join(" ");
}
