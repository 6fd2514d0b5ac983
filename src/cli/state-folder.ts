// Where Tutti keeps its state: the folder given, the one in the environment, or one in the user's home.
import { homedir } from "node:os";
import { join, resolve } from "node:path";

export function stateFolder(given: string | undefined): string {
  return resolve(given ?? process.env["TUTTI_STATE"] ?? join(homedir(), ".tutti"));
}
