// The policy that a goal keeps to its end, as it is recorded with the goal and with tasks of it.

import { z } from "zod";

export const KeptPolicy = z.strictObject({
  text: z.string(),
  /** SHA-256 of the text. */
  hash: z.string(),
  /** Nobody wrote it: it was made from the models that are configured, so an agent's definition beats it. */
  is_default: z.boolean().default(false),
});
export type KeptPolicy = z.infer<typeof KeptPolicy>;
