// A file of the state folder, made for its owner alone; what SQLite puts beside a database takes over its mode.
import { closeSync, openSync } from "node:fs";

export function ownFile(path: string): void {
  closeSync(openSync(path, "a", 0o600));
}
