// The mark of a store whose records were all moved to another one: whoever went on here would do their work a second time.

import { z } from "zod";

import { TuttiError } from "../protocol/error.ts";

/** The key in the table `meta`. */
export const movedKey = "moved";

const MovedMark = z.object({
  /** The salt of the store that has everything now. */
  to: z.string(),
  at: z.number(),
  /** False while it is not known whether the other store has kept it: the process ended at just that moment. */
  done: z.boolean(),
});
export type MovedMark = z.infer<typeof MovedMark>;

export function readMovedMark(text: string): MovedMark {
  return MovedMark.parse(JSON.parse(text));
}

/** Of a database that several nodes shared. */
export function movedAwayError(): TuttiError {
  const message =
    "everything in this database was moved into a state folder with `tutti export`; go on there, or bring that folder into an empty database with `tutti import`";
  return new TuttiError("conflict", message);
}

/** Of a state folder. */
export function movedFolderError(folder: string, mark: MovedMark): TuttiError {
  const message = mark.done
    ? `everything in ${folder} was moved into a database with \`tutti import\`; start \`tutti up --database\`, or bring it back with \`tutti export --database\``
    : `an import of ${folder} into a database was cut off at its last moment; run the same \`tutti import\` again, which finds out how it ended`;
  return new TuttiError("conflict", message);
}
