// Text as PostgreSQL can hold it: it takes no NUL and no half characters, and whoever wrote a text must not stop a commit.

const nul = "\0";
/** Stands before a character that takes the place of another one. */
const mark = "\u0001";
const markedNul = `${mark}0`;

/** Texts without these characters, almost all, stay as they are. */
export function storedText(text: string): string {
  const whole = text.isWellFormed() ? text : text.toWellFormed();
  if (!whole.includes(nul) && !whole.includes(mark)) return whole;
  return whole.replaceAll(mark, `${mark}${mark}`).replaceAll(nul, markedNul);
}

export function readText(stored: string): string {
  if (!stored.includes(mark)) return stored;
  return stored
    .split(`${mark}${mark}`)
    .map((part) => part.replaceAll(markedNul, nul))
    .join(mark);
}
