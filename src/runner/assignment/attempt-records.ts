// What is recorded of an attempt of an assignment, so that a restart goes on with it.

import { z } from "zod";

import { EvidenceFact } from "../../protocol/task/evidence.ts";
import { Standing } from "./config.ts";
import { Effort } from "./session-effort.ts";

/** What the inner runner came to. */
export const Worked = z.object({
  claim: z.unknown(),
  /** Why it failed, in its own words; null when it did not. */
  failure: z.string().nullable(),
  saved: z
    .object({
      workspace: z.string(),
      mode: z.enum(["worktree", "shared", "copy"]),
      branch: z.string().nullable(),
      base: z.string().nullable(),
      tip: z.string().nullable(),
      commits: z.int(),
      files: z.int(),
      uncommitted: z.int(),
    })
    .nullable(),
  /** Null when the log does not tell. */
  effort: Effort.nullable(),
});
export type Worked = z.infer<typeof Worked>;

/** The saved state of the task: the wrapper's part, and the inner runner's own. */
export const Kept = z.object({
  assigned: Standing.extend({ worked: Worked.optional() }),
  inner: z.unknown().optional(),
});

/** What Tutti observed after the session ended. */
export const Observed = z.object({
  commit: z.string().nullable(),
  tree: z.string().nullable(),
  facts: z.array(z.object({ fact: EvidenceFact, criteria: z.array(z.string()) })),
  findings: z.array(z.string()),
  at: z.int(),
});
export type Observed = z.infer<typeof Observed>;
