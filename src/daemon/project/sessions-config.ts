// What the user's own config says about sessions: when an idle one is ended, and when an agent counts as broken.

import { z } from "zod";

const units: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const longestMs = 30 * 86_400_000;

/** A number of milliseconds, or a text such as `2h`. */
const Duration = z
  .union([
    z.number(),
    z.string().transform((text, context) => {
      const found = /^(\d+(?:\.\d+)?)\s*([smhd])$/.exec(text.trim().toLowerCase());
      if (found !== null) return Number(found[1]) * (units[found[2] ?? ""] ?? 0);
      context.addIssue({ code: "custom", message: "must be a number and s, m, h or d, such as 2h" });
      return z.NEVER;
    }),
  ])
  .refine((ms) => ms >= 1_000 && ms <= longestMs, "must be from 1s to 30d");

export const SessionsConfig = z.strictObject({
  /** A session of a coding agent of which nothing was heard for so long is ended and can be resumed; never when absent. */
  idle_after: Duration.optional(),
  /** A coding agent that failed so often in a row is launched again only when a person agrees; 0 means always. */
  max_failures: z.int().min(0).max(100).default(3),
});
export type SessionsConfig = z.infer<typeof SessionsConfig>;
