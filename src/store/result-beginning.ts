// The beginning of a result: what lists show of it, and what is stored beside a long one.

import { z } from "zod";

/** In characters. */
export const previewLength = 400;

const Recorded = z.object({
  error: z.unknown().optional(),
  content: z.unknown().optional(),
  reason: z.unknown().optional(),
});
const Told = z.object({ message: z.string() });

/** Of the body of a result: the beginning of its content, of the message of its error, or of why it was canceled. */
export function resultBeginning(body: string): string {
  const { error, content, reason } = Recorded.parse(JSON.parse(body));
  // Most results have no error, and a failed parse costs more than all the rest.
  const told = error === undefined ? undefined : Told.safeParse(error).data?.message;
  const shown = told ?? content ?? error ?? reason ?? null;
  return beginning(typeof shown === "string" ? shown : JSON.stringify(shown));
}

/** Does not end in the middle of a character. */
function beginning(text: string): string {
  return text.slice(0, previewLength).replace(/[\ud800-\udbff]$/, "");
}
