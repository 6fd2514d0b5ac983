// How lists are asked for in pages.

import { z } from "zod";

/** A number in a query, which holds only text. */
export const count = (most: number, usual: number) => z.coerce.number<number>().int().min(1).max(most).default(usual);

/** Of a list whose items have names: agents, models, operators, keys. */
export const listQuery = {
  limit: count(200, 100),
  /** `next` of the page before. */
  cursor: z.string().min(1).max(512).optional(),
};
export const ListQuery = z.strictObject(listQuery);

/** Of a list whose items have numbers: `next` of the page before. */
export const numberCursor = z
  .string()
  .regex(/^\d{1,15}$/, "must be the `next` of a page")
  .optional();

/** The cursor of the next page; null on the last. */
export const nextItem = z.string().nullable();
