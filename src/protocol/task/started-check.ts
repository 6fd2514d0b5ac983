// A run of a check that begins, with its place among the runs of one verification, and the words in which people read it.

import { z } from "zod";

import { argvLine } from "../argv-line.ts";

/**
 * What it runs on. `setup` prepares a checkout. `base_checks`: the work, with the base's version of the check's own files.
 * `without_work`: the base, with the work's version of them. `canary`: the work, with tests of Tutti's own.
 */
const CheckedOn = z.enum(["setup", "work", "base", "base_checks", "without_work", "canary"]);

export const StartedCheck = z.strictObject({
  argv: z.array(z.string()).min(1),
  on: CheckedOn,
  /** Which check of the verification it is, or which step of the setup. */
  number: z.int().positive(),
  of: z.int().positive(),
  /** It failed before on the same files and is run a second time. */
  again: z.boolean(),
});
export type StartedCheck = z.infer<typeof StartedCheck>;

const places: Readonly<Record<StartedCheck["on"], string>> = {
  setup: "",
  work: ", on the work",
  base: ", on the base",
  base_checks: ", on the work with the tests of the base",
  without_work: ", on the base with the tests of the work",
  canary: ", with a test that has to fail",
};

/** Such as "checking 1 of 2: npm test, on the base". */
export function startedCheckText({ argv, on, number, of, again }: StartedCheck): string {
  const what = on === "setup" ? "preparing a fresh checkout," : "checking";
  return `${what} ${number} of ${of}: ${argvLine(argv)}${places[on]}${again ? ", again" : ""}`;
}

/** Whether a check of the task can still be under way after the event: only costs are told meanwhile. */
export function isWithinCheck({ type }: { readonly type: string }): boolean {
  return type.startsWith("budget.");
}
