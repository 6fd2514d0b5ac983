// The folder that a command is given with `--cwd`, or the current one. A folder that does not exist is an error.
import { statSync } from "node:fs";
import { resolve } from "node:path";

import { TuttiError } from "../protocol/error.ts";

/** Checked first, because a folder that does not exist would look like a project in which nothing is set up. */
export function givenFolder(given: string | undefined): string {
  if (given === undefined) return process.cwd();
  if (given === "") throw new TuttiError("usage", "the folder is empty text; name a folder, or leave --cwd out");
  const folder = resolve(given);
  const found = statSync(folder, { throwIfNoEntry: false });
  if (found === undefined) throw new TuttiError("not_found", `there is no folder ${given}`);
  if (!found.isDirectory()) throw new TuttiError("invalid_input", `${given} is a file; name a folder`);
  return folder;
}
