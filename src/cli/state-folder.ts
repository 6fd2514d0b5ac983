// The folder that holds Tutti's state: the one given with `--state`, the one in $TUTTI_STATE, or `.tutti` in the home folder.
import { homedir } from "node:os";
import { join, resolve } from "node:path";

import { TuttiError } from "../protocol/error.ts";

/** An empty variable counts as not set, as shells make it easy to export one. */
export function stateFolder(given: string | undefined): string {
  if (given === "") throw new TuttiError("usage", "--state is empty text; name a folder, or leave --state out");
  const { TUTTI_STATE = "" } = process.env;
  return resolve(given ?? (TUTTI_STATE === "" ? join(homedir(), ".tutti") : TUTTI_STATE));
}
