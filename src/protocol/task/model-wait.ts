// That a call of a model is made again after a pause.

import { z } from "zod";

import { Time } from "../ids.ts";
import { Ordinal } from "./task.ts";

export const ModelWait = z.strictObject({
  /** `provider/model`. */
  model: z.string(),
  reason: z.string(),
  /** Which try comes next, of at most `most`. */
  next: Ordinal,
  most: Ordinal,
  /** It is not made before. */
  until: Time,
});
export type ModelWait = z.infer<typeof ModelWait>;
