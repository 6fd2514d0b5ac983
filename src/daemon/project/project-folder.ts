// Which folder is the project: the nearest one upwards that says so, else the one given.

import { existsSync } from "node:fs";
import { dirname, join } from "node:path";

import { configNames } from "./project-config.ts";

const signs = [join(".tutti", "agents"), join(".claude", "agents"), ".git", ...configNames];

/** The home is never found on the way up: what lies there is the user's, not a project's. */
export function projectFolder(from: string, home: string): string {
  for (let folder = from; folder !== home; folder = dirname(folder)) {
    if (signs.some((sign) => existsSync(join(folder, sign)))) return folder;
    if (folder === dirname(folder)) break;
  }
  return from;
}
