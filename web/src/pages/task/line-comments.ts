// Comments on lines of a change, and the one message that they become.

import type { PatchLine } from "../../text/read-patch.ts";

export interface LineComment {
  readonly place: string;
  readonly path: string;
  readonly line: PatchLine;
  readonly text: string;
}

/** A line of a change by its path, its side and its number. */
export function placeOf(path: string, { mark, old, fresh }: PatchLine): string {
  return `${path}:${mark === "-" ? `old ${old ?? 0}` : `${fresh ?? 0}`}`;
}

/** Each comment with its place and the line that it is about, in the order in which they were made. */
export function commentsMessage(comments: readonly LineComment[]): string {
  const parts = comments.map(({ path, line, text }) => {
    const where = line.mark === "-" ? `line ${line.old ?? 0} before the change` : `line ${line.fresh ?? 0}`;
    return `${path}, ${where}:\n> ${line.mark === " " ? "" : line.mark}${line.text.slice(0, 400)}\n${text.trim()}`;
  });
  const intro = comments.length === 1 ? "A comment on your changes:" : `${comments.length} comments on your changes:`;
  return [intro, ...parts].join("\n\n");
}
