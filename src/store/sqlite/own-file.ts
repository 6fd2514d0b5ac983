// A file of the state folder, made for its owner alone; what SQLite puts beside a database takes over its mode.
import { closeSync, openSync } from "node:fs";

/** When it cannot be made, SQLite cannot open it either, and its error is the one that has an advice. */
export function ownFile(path: string): void {
  try {
    closeSync(openSync(path, "a", 0o600));
  } catch {
    return;
  }
}
