// The folder that holds Tutti's state: the one given with `--state`, the one in $TUTTI_STATE, or `.tutti` in the home folder.
import { homedir } from "node:os";
import { join, resolve } from "node:path";

export function stateFolder(given: string | undefined): string {
  return resolve(given ?? process.env["TUTTI_STATE"] ?? join(homedir(), ".tutti"));
}
