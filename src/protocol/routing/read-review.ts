// Reads a review envelope from TOON, JSON or a plain value.

import { listCell, numberCell, openCells, openSection, textCell } from "./cells.ts";
import { openDocument } from "./document.ts";
import { reviewFields } from "./fields.ts";
import { finish, newNotes, warn, type Read } from "./read-notes.ts";
import type { Review } from "./review.ts";

const bodyFields = reviewFields.section.review;

/** Never throws. A review without a body is one without a gate: it can approve nothing. */
export function readReview(input: unknown): Read<Review> {
  const notes = newNotes("review");
  const review: Review = { review: {} };
  const document = openDocument(input, reviewFields, notes);
  if (document === undefined) return finish(notes, review);
  const cells = openCells(reviewFields, document.value, { path: "", toon: document.toon, notes });
  for (const name of reviewFields.text) {
    const value = textCell(cells, name);
    if (value !== undefined) review[name] = value;
  }
  if (notes.error === undefined && !cells.found.has("review")) warn(notes, "review is missing, so there is no gate");
  const body = openSection(cells, "review", bodyFields);
  for (const name of bodyFields.text) {
    const value = textCell(body, name);
    if (value !== undefined) review.review[name] = value;
  }
  for (const name of bodyFields.list) {
    const value = listCell(body, name);
    if (value !== undefined) review.review[name] = value;
  }
  const conf = numberCell(body, "conf");
  if (conf !== undefined) review.review.conf = conf;
  return finish(notes, review);
}
