// Takes certain characters off the end of a text in linear time, which a regular expression such as /x+$/ does not.

/** `characters` are single code units. */
export function trimEndOf(text: string, characters: string): string {
  let end = text.length;
  while (end > 0 && characters.includes(text.charAt(end - 1))) end -= 1;
  return text.slice(0, end);
}
