// Reads a review envelope from TOON, JSON or a plain value.

import { anyField, listField, numberField, openFields, openSection, textField } from "./read-fields.ts";
import { openDocument } from "./document.ts";
import { reviewFields } from "./field-tables.ts";
import { finish, newNotes, warn, type Read, type ReadNotes } from "./read-notes.ts";
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
  const points = anyField(body, "points");
  if (points !== undefined) review.review.points = readPoints(points, notes);
  return finish(notes, review);
}

/** A point that cannot be read is one that the reviewer did not judge. */
function readPoints(given: unknown, notes: ReadNotes): NonNullable<Review["review"]["points"]> {
  if (!Array.isArray(given)) {
    warn(notes, "review.points is not a list and was ignored");
    return [];
  }
  return given.flatMap((one: unknown, index) => {
    const { id, met, why, where }: { id?: unknown; met?: unknown; why?: unknown; where?: unknown } = Object(one);
    if (typeof id === "string" && typeof met === "boolean" && typeof why === "string") {
      if (typeof where === "string") return [{ id, met, why, where }];
      if (!met) return [{ id, met, why, where: "" }];
    }
    warn(notes, `review.points[${index}] needs id, met, why and where, and was ignored`);
    return [];
  });
}
