// Reads a review envelope from TOON, JSON or a plain value.

import { listField, numberField, openFields, openSection, textField } from "./read-fields.ts";
import { openDocument } from "./document.ts";
import { reviewFields } from "./field-tables.ts";
import { finish, newNotes, warn, type Read } from "./read-notes.ts";
import type { Review } from "./review.ts";

const bodyFields = reviewFields.section.review;

/** Never throws. A review without a body has no gate, so it cannot approve anything. */
export function readReview(input: unknown): Read<Review> {
  const notes = newNotes("review");
  const review: Review = { review: {} };
  const document = openDocument(input, reviewFields, notes);
  if (document === undefined) return finish(notes, review);
  const fields = openFields(reviewFields, document.value, { path: "", toon: document.toon, notes });
  for (const name of reviewFields.text) {
    const value = textField(fields, name);
    if (value !== undefined) review[name] = value;
  }
  if (notes.error === undefined && !fields.found.has("review")) warn(notes, "review is missing, so there is no gate");
  const body = openSection(fields, "review", bodyFields);
  for (const name of bodyFields.text) {
    const value = textField(body, name);
    if (value !== undefined) review.review[name] = value;
  }
  for (const name of bodyFields.list) {
    const value = listField(body, name);
    if (value !== undefined) review.review[name] = value;
  }
  const conf = numberField(body, "conf");
  if (conf !== undefined) review.review.conf = conf;
  return finish(notes, review);
}
