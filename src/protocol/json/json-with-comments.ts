// Turns JSON with comments and trailing commas into plain JSON, in which every character keeps its place.

/** Comments and trailing commas become spaces, so that a position in an error is the position in the text. Never throws. */
export function withoutComments(text: string): string {
  const parts: string[] = [];
  /** The index in `parts` of a comma after which only blanks and comments came. */
  let comma: number | undefined;
  for (const [token] of text.matchAll(
    /"(?:[^"\\\n]|\\.)*"?|\/\/[^\n]*|\/\*(?:[^*]|\*(?!\/))*(?:\*\/)?|\s+|[^"/\s]|\//g,
  )) {
    const isComment = token.startsWith("//") || token.startsWith("/*");
    parts.push(isComment ? token.replaceAll(/[^\n\r]/g, " ") : token);
    if (isComment || token.trim() === "") continue;
    if (comma !== undefined && (token === "]" || token === "}")) parts[comma] = " ";
    comma = token === "," ? parts.length - 1 : undefined;
  }
  return parts.join("");
}
