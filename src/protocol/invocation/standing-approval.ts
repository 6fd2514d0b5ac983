// A standing approval: a person's yes to all calls of one kind in one project, which holds until it is revoked.

import { z } from "zod";

import { AskId, Time } from "../ids.ts";

const word = z.string().max(10_000);

/** Stands for one or more whole elements of a command, none of which is an option. */
export const anyWords = "*";

/** A command as it is matched, element by element. The program itself is always named. */
export const CommandPattern = z
  .tuple([word.min(1).refine((program) => program !== anyWords, "must name the program; * cannot stand for it")], word)
  .refine((words) => words.length <= 1_000, "has too many elements");
export type CommandPattern = z.infer<typeof CommandPattern>;

/** Which calls are meant. */
export const AllowedCalls = z.strictObject({
  tool: z.string().min(1),
  /** The command; only of the tool `run`. */
  argv: CommandPattern.optional(),
  /** Calls that are not confined to the task's folders are meant, too. */
  unconfined: z.boolean(),
  /** Calls that reach the network are meant, too. */
  network: z.boolean(),
  /** The file that an unconfined command must run. */
  program: z.string().optional(),
});
export type AllowedCalls = z.infer<typeof AllowedCalls>;

export const StandingApproval = z.strictObject({
  id: z.string().min(1),
  /** The folder of the project. */
  project: z.string(),
  calls: AllowedCalls,
  at: Time,
  by: z.string(),
  /** The API key that it was made with, and ends with; absent for the owner of the state folder. */
  key: z.string().optional(),
});
export type StandingApproval = z.infer<typeof StandingApproval>;

/** Makes a standing approval of what an open approval asks about; `argv` widens it to a pattern that the command fits. */
export const NewStandingApproval = z.strictObject({ ask: AskId, argv: CommandPattern.optional() });
export type NewStandingApproval = z.infer<typeof NewStandingApproval>;

export const StandingApprovalList = z.strictObject({ approvals: z.array(StandingApproval) });

/** In the details of an approval: what "always" would allow. It is absent where a person must decide each time. */
export const AlwaysDetails = z.object({ always: AllowedCalls });
