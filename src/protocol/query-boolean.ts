// A boolean in the query of a URL, where every value is text: exactly `true` or `false`.

import { z } from "zod";

const booleans: ReadonlyMap<unknown, boolean> = new Map([
  ["true", true],
  ["false", false],
]);

/** The input type is `boolean` because callers in code, over HTTP and in process, pass a boolean; only the wire has text. */
export const queryBoolean = z.preprocess(
  (value: boolean): unknown => booleans.get(value) ?? value,
  z.boolean("must be true or false"),
);
