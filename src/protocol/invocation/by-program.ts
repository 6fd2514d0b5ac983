// The mark of work that a program asked for: through which key, what it may do unasked, and what it needs a person's yes for.

import { z } from "zod";

import { TuttiError } from "../error.ts";

/**
 * What a person can let a key do without being asked each time: name the runners of its work, let its work touch any folder,
 * and bring its own routing policy and checks.
 */
export const KeyGrant = z.enum(["force-runners", "any-folder", "own-rules"]);
export type KeyGrant = z.infer<typeof KeyGrant>;

/** A program that calls the API. What is said over MCP comes from a program whatever the key is. */
export const ProgramCaller = z.object({
  /** The name of the API key. */
  key: z.string(),
  over: z.enum(["HTTP", "MCP"]),
  may: z.array(KeyGrant).readonly(),
  /** Folders that its work may touch. */
  folders: z.array(z.string()).readonly(),
});
export type ProgramCaller = z.infer<typeof ProgramCaller>;

/** One thing that a person must agree to, as it was given. */
export const ProgramWish = z.object({ wish: z.string(), value: z.unknown() });
export type ProgramWish = z.infer<typeof ProgramWish>;

/** In the config of a tree's root, which nobody but Tutti writes. Absent: a person started it. */
export const ByProgram = ProgramCaller.extend({ wants: z.array(ProgramWish).readonly() });
export type ByProgram = z.infer<typeof ByProgram>;

const Marked = z.object({ by_program: ByProgram });

/** The mark of a tree, from the config of its root; undefined for a person's. Throws when there is one that cannot be read. */
export function byProgramIn(rootConfig: unknown): ByProgram | undefined {
  if (!isByProgram(rootConfig)) return undefined;
  const read = Marked.safeParse(rootConfig);
  if (read.success) return read.data.by_program;
  throw new TuttiError("corrupt", "the mark of a program's work cannot be read; start the work again");
}

/** Whether the config of a root has a mark, also one that this version cannot read. */
export function isByProgram(rootConfig: unknown): boolean {
  return typeof rootConfig === "object" && rootConfig !== null && Object.hasOwn(rootConfig, "by_program");
}
